"""The page for Snowsight, as a person would see it, by Streamlit's own AppTest on the emulator."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.storage.engine import Database
from backend.warehouse.inside import snowsight
from tests import warehouses
from tests.contracts.warehouse import test_views as inspected
from tests.warehouses import Place

SCRIPT = Path(__file__).with_name("snowsight.py")
SECONDS = 300
SECRETS = """[connections.snowflake]
account = "fakesnow"
user = "loupe"
password = "x"
host = "127.0.0.1"
port = {port}
protocol = "http"
database = "{database}"
schema = "s1"
"""


def drive(page: Path, place: Place, *walks: list[list[Any]]) -> list[dict[str, Any]]:
    """What stands on the page after each of these walks."""
    folder = page.parent / ".streamlit"
    folder.mkdir(exist_ok=True)
    told = SECRETS.format(port=place.port, database=place.database)
    (folder / "secrets.toml").write_text(told)
    environment = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"SNOWFLAKE_DISABLE_PLATFORM_DETECTION": "true", "HOME": str(page.parent)}
    uv = shutil.which("uv") or "uv"
    command = [uv, "run", "-q", "--script", str(SCRIPT), str(page), json.dumps(walks)]
    environment["UV_CACHE_DIR"] = subprocess.check_output([uv, "cache", "dir"], text=True).strip()
    if subprocess.run([uv, "sync", "-q", "--script", str(SCRIPT)], env=environment).returncode:
        pytest.skip("the environment of Streamlit needs uv, and a network the first time")
    ran = subprocess.run(
        command, cwd=page.parent, env=environment, timeout=SECONDS, capture_output=True
    )
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    answer: list[dict[str, Any]] = json.loads(ran.stdout)
    return answer


@pytest.fixture
def place(emulator: int, tmp_path: Path) -> Place:
    """An empty Snowflake."""
    return warehouses.place("snowflake", tmp_path, port=emulator)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The page, written out."""
    path = tmp_path / "page" / "results.py"
    path.parent.mkdir()
    snowsight.write(path)
    return path


def publish_picture(place: Place, image: int) -> None:
    """The bytes of one picture, as they are published."""
    packed = io.BytesIO()
    Image.new("RGB", (100, 50), "white").save(packed, "PNG")
    data = packed.getvalue().hex()
    place.change(
        "DROP VIEW IF EXISTS loupe_picture_now",
        "CREATE TABLE loupe_picture_now (image_id NUMBER(38, 0), sha256 VARCHAR, data BINARY)",
        f"INSERT INTO loupe_picture_now SELECT {image}, 'x', TO_BINARY('{data}', 'HEX')",
    )


@pytest.mark.slow
def test_a_page_in_snowsight_shows_pictures_with_labels_and_what_was_found(
    sqlite: Database, tmp_path: Path, place: Place, page: Path
) -> None:
    house = warehouses.publishing(sqlite, tmp_path, place)
    ids = inspected.inspect(sqlite)
    inspected.review(sqlite, ids)
    house.load()
    publish_picture(place, ids["l2/c.jpg"])
    first, sure, other, none = drive(
        page,
        place,
        [["run", inspected.RUN]],
        [["run", inspected.RUN], ["score", 0.8]],
        [["run", inspected.RUN], ["name", "C.JPG"], ["picture", ids["l2/c.jpg"]]],
        [["run", inspected.RUN], ["name", "'; DROP TABLE loupe_run; --"]],
    )
    assert not any(one["errors"] for one in (first, sure, other, none))
    assert [one["label"] for one in first["tables"][0]] == ["open", "open", "spur"]
    assert first["tables"][1][0]["label"] == "short"
    assert [one["score"] for one in sure["tables"][0]] == [0.875]
    assert first["images"] == sure["images"] == 1
    assert any("is not published" in one for one in first["told"])
    assert other["pictures"] == [["l2/c.jpg (1)"]]
    assert other["texts"] == ["l2/c.jpg"]  # as it is, not as Markdown
    assert not any("is not published" in one for one in other["told"])
    assert none["told"] == ["The run has no picture of such a name."]
    assert place.ask("SELECT count(*) FROM loupe_run")[0][0] > 0


def test_the_page_is_short_and_binds_every_value(page: Path) -> None:
    source = page.read_text("utf-8")
    assert len(source.splitlines()) <= 150
    assert "session.sql(sql, params=list(values))" in source
    assert source.count(".sql(") == 1

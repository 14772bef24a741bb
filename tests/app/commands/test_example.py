"""`loupe warehouse example`: what it refuses, the SQL that it shows, and the whole walk by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import pytest
from snowflake import ml
from sqlalchemy import make_url

from app.commands import example as walking
from backend import settings
from backend.errors import Invalid
from backend.warehouse.address import Address
from backend.warehouse.inside import example, nodes
from tests import warehouses
from tests.app.conftest import Said

OPTIONS = {"database": "d", "schema": "s", "warehouse": "w", "role": "r", "user": "u"}
SNOWFLAKE = Address("snowflake", make_url("snowflake://u@a/d/s"), OPTIONS)
PATIENCE = 1500.0


def test_what_an_example_does_not_know_is_refused_before_anything_starts(
    loupe: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOUPE_WAREHOUSE_URL", "snowflake://me@account/D1/results")
    settings.current.cache_clear()
    (tmp_path / "there.png").touch()
    for words, told in (
        ((), "Name a place for it"),
        (("pictures",), "no place on a stage"),
        (("@s/x", "gpus=5"), "'gpus' is nothing of the example's: project, voc"),
        (("@s/x", "family=golden"), "looks at pictures alone: family=yolo or faster_rcnn."),
        (("@s/x", "nodes=0"), "nodes=0 is no number from 1"),
        (("@s/x", f"picture={tmp_path / 'there.png'}"), "is there already"),
        (("@s/x", "picture=boxes.txt"), "boxes.txt is no picture: .png or .jpg."),
        (("@s/x", "egress=everywhere"), "is no host with its port"),
    ):
        code, _, err = loupe("warehouse", "example", *words)
        assert (code, told in err) == (1, True), err


def test_the_set_up_lets_nothing_out_but_the_hosts_that_somebody_names() -> None:
    told = example.script(SNOWFLAKE, ("E",), 5, "")
    assert "CREATE STAGE IF NOT EXISTS d.s.E;" in told
    whole = example.script(SNOWFLAKE, ("X", "y z", 'E"'), 5, "")
    assert 'CREATE STAGE IF NOT EXISTS X."y z"."E""";' in whole
    assert "GRANT USAGE ON DATABASE X TO ROLE r;" in whole
    assert 'GRANT USAGE ON SCHEMA X."y z" TO ROLE r;' in whole
    beside = [one for one in example.script(SNOWFLAKE, ("S2", "E"), 5, "") if one not in told]
    assert beside[1] == "GRANT USAGE ON SCHEMA d.S2 TO ROLE r;"
    assert "GRANT READ, WRITE ON STAGE d.s.E TO ROLE r;" in told
    small = example.script(SNOWFLAKE, ("day",), 5, "")
    assert 'CREATE STAGE IF NOT EXISTS d.s."day";' in small
    assert "MAX_NODES = 5" in told[-2]
    assert told[-1] == "GRANT USAGE ON COMPUTE POOL LOUPE_EXAMPLE TO ROLE r;"
    assert not any("EGRESS" in one or "EXTERNAL" in one for one in told)
    told = example.script(SNOWFLAKE, (), 5, "a.example:443,b.example:8080")
    assert "VALUE_LIST = ('a.example:443', 'b.example:8080');" in told[-3]
    for hostile in ("x'); DROP TABLE y; --:443", "0.0.0.0/0", "*:443"):
        with pytest.raises(Invalid, match="is no host with its port"):
            example.script(SNOWFLAKE, (), 5, hostile)


def test_nodes_are_asked_for_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with nodes.asked_for(5) as told:
        assert told.startswith("This is not Snowflake's container runtime")
    (tmp_path / "runtime_cluster.py").write_text(
        "asked = []\ndef scale_cluster(nodes):\n    asked.append(nodes)\n"
        "    if nodes > 9:\n        raise TimeoutError\n"
    )
    monkeypatch.setattr(ml, "__path__", [*ml.__path__, str(tmp_path)])
    with nodes.asked_for(5) as told:
        assert told == "5 nodes are there."
    with pytest.raises(KeyError), nodes.asked_for(3):
        raise KeyError
    with pytest.raises(TimeoutError), nodes.asked_for(10):
        pass
    assert sys.modules.pop(nodes.RUNTIME).asked == [5, 1, 3, 1, 10, 1]


def test_what_came_of_a_walk_is_said_in_parts() -> None:
    told = walking.sentences(
        {
            "pictures": 4, "boxes": 9, "steps": {"train": 7.0}, "images_per_second": 12.5,
            "parts": {"list": 0.1, "forward": 2.0}, "per_device": 6.25, "file": "a.png",
            "result": [], "picture": "example.png",
        }
    )  # fmt: skip
    assert told[1:3] == [
        "Seconds of the steps: train 7.0.",
        "Seconds of the run: list 0.10, forward 2.00; those of decode and forward are of all "
        "processes.",
    ]
    assert told[3] == "12.5 images/s, 6.25 a device."


@pytest.mark.siege
@pytest.mark.timeout(1600)
def test_the_whole_example_is_walked(tmp_path: Path, emulator: int) -> None:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    place.change("CREATE STAGE pictures")
    picture = tmp_path / "example.png"
    chosen = ("images=8", "epochs=1", "size=320", "workers=1", f"picture={picture}")
    home = {"LOUPE_HOME": str(tmp_path / "home"), "LOUPE_WAREHOUSE_URL": place.url}
    command = [sys.executable, "-W", "ignore", "-c", "from app import cli; cli.main()"]
    ran = subprocess.run(
        [*command, "warehouse", "example", "@pictures/example", *chosen, "--json"],
        env={**os.environ, **place.environment, **home}, capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert set(told["parts"]) == set(walking.PARTS)
    assert told["pictures"] == 9  # with the golden, which lies on the stage, too
    assert told["images_per_second"] > 0
    if told["boxes"]:
        assert told["result"]
        shown = cv2.imread(str(picture))
        assert shown is not None
        assert (shown[..., 2] > shown[..., 0]).any()  # red boxes, in the right order of colours

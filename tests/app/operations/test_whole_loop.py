"""From pictures to a report by tokens alone: with the client, and with curl."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.client import HERE, Loupe
from backend.domain import Project, Role
from backend.errors import Conflict, NotFound
from backend.labels import samples
from backend.projects import people, tokens
from backend.settings import Settings
from backend.storage import engine, files, schema
from tests.guide import paper
from tests.journeys import conftest as serving

PATIENCE = 300.0


@dataclass
class Served:
    """A site with a worker, and the token of a labeler."""

    url: str
    token: str
    home: Path

    def project(self, name: str) -> Project:
        settings = Settings(home=self.home)
        database = engine.connect(settings)
        drawn = samples.draw(files.connect(settings), "pcb", 4, seed=len(name))
        with database.write.begin() as session:
            made = samples.create(session, name, "pcb", drawn)
        database.close()
        return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    database = engine.connect(Settings(home=home))
    schema.prepare(database)
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "correct horse")
        _, token = tokens.add(session, "line 3", "ana")
    database.close()
    url, process = serving.start(home, "--auth")
    yield Served(url, token, home)
    serving.stop(process)


@pytest.mark.again
def test_the_whole_loop_goes_through_the_client_as_the_guide_shows_it(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loupe, boards = Loupe(served.token, served.url), served.project("boards").name
    blocks = re.findall(r"```python\n(.*?)```", paper.page("api"), flags=re.DOTALL)
    known: dict[str, Any] = {"TOKEN": served.token}
    for block in blocks:
        exec(block.replace(HERE, served.url), known)
    assert "RunFigures(" in capsys.readouterr().out
    run, first = known["run"], next(loupe.images(boards))
    assert first.comment == "seen by line 3"
    with pytest.raises(Conflict):
        loupe.save_labels(first.id, first.version - 1, ())
    assert [one.champion for one in loupe.models(boards)] == [True]
    seen = next(one for one in loupe.detections(run) if one.detections)
    links = [one.what for one in loupe.why(f"{run}:{seen.image}:0").links]
    assert {"Detection", "Decision"} <= {*links}
    assert "decision" in loupe.report(run, tmp_path / "run.csv").read_text().splitlines()[0]
    assert [*loupe.compare(run, run)] == []
    assert next(loupe.runs(boards)).id == run
    assert [one.text for one in loupe.events(run)]
    picture = loupe.picture(first.id, tmp_path / "board.png")
    assert isinstance(loupe.detect_file(boards, picture, "golden"), list)


def test_pictures_and_labels_go_out_and_come_in_by_the_client(
    served: Served, tmp_path: Path
) -> None:
    loupe, boards = Loupe(served.token, served.url), served.project("boards / one").name
    done = loupe.wait(loupe.export(boards, "yolo", states=["all"]).id, 0.2, PATIENCE)
    written = loupe.download(done.id, tmp_path / "boards.zip")
    brought = loupe.wait(loupe.import_(boards, written).id, 0.2, PATIENCE)
    assert (brought.result["images"], brought.result["skipped"] > 0) == (0, True)
    with pytest.raises(NotFound, match="no project named 'nowhere'"):
        next(loupe.images("nowhere"))


def test_where_no_file_can_be_written_nobody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Loupe("no token", "http://nobody.invalid").download(7, tmp_path / "nowhere" / "boards.zip")


def test_the_whole_loop_goes_by_curl(served: Served, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed.")
    served.project("lot")
    [image] = curl(served, "GET", "/projects/lot/images?limit=1")["items"]
    body = {"version": image["version"], "boxes": [], "state": "done"}
    saved = curl(served, "PUT", f"/images/{image['id']}/labels", body)
    assert saved == {"image": image["id"], "version": image["version"] + 1}
    read = boxed(served)
    body = {"version": read["version"], "boxes": read["boxes"]}
    assert curl(served, "PUT", f"/images/{read['id']}/labels", body)["image"] == read["id"]
    assert boxed(served)["boxes"] == read["boxes"]
    wait(served, curl(served, "POST", "/projects/lot/train", {"family": "golden"})["job"]["id"])
    run = curl(served, "POST", "/projects/lot/detect", {"model": "v1"})["id"]
    wait(served, run)
    seen = curl(served, "GET", f"/runs/{run}/detections")["items"]
    found = next(one for one in seen if one["detections"])
    said = [{"image": found["image"], "detections": [{"idx": 0, "verdict": "false_call"}]}]
    assert curl(served, "POST", f"/runs/{run}/decide", {"images": said})["images"]
    csv = tmp_path / "run.csv"
    command = ["curl", "-sf", "-o", str(csv), "-H", f"Authorization: Bearer {served.token}"]
    subprocess.run([*command, f"{served.url}/api/v1/runs/{run}/report?format=csv"], check=True)
    assert "false_call" in csv.read_text()


def boxed(served: Served) -> Any:
    """The first image with boxes, as it is read."""
    return next(one for one in curl(served, "GET", "/projects/lot/images")["items"] if one["boxes"])


def curl(served: Served, method: str, path: str, body: Any = None) -> Any:
    command = ["curl", "-s", "-X", method, "-H", f"Authorization: Bearer {served.token}"]
    if body is not None:
        command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    told = subprocess.run(
        [*command, f"{served.url}/api/v1{path}"], check=True, capture_output=True, text=True
    )
    return json.loads(told.stdout)


def wait(served: Served, job: int) -> None:
    assert Loupe(served.token, served.url).wait(job, 0.2, PATIENCE).error == ""

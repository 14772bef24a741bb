"""The loop of classes at the command line: folders in, trained, judged, retrained, folders out."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.journeys import sorting
from tests.journeys.site.test_shell import Shell

TRAIN, VAL, LEFT = 60, 30, 500
COUNT = TRAIN + VAL + LEFT
LATER = {f"{at:03}.png" for at in range(TRAIN + VAL, COUNT)}

pytestmark = [pytest.mark.siege, pytest.mark.timeout(3000)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Pictures in folders of classes, in two splits; and some that nobody has named."""
    for at in range(COUNT):
        home = "in/train" if at < TRAIN else "in/val" if at < TRAIN + VAL else "more"
        folder = tmp_path / home / (sorting.truth(at) if home != "more" else "")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{at:03}.png").write_bytes(sorting.plate(at))
    return tmp_path


def judge(shell: Shell, place: Path) -> None:
    """What another program says of the held-out pictures, one of them wrongly, is measured."""
    held = [f"{at:03}.png" for at in range(TRAIN, TRAIN + VAL)]
    names = [one["name"] for one in shell.json("images", "plates") if one["name"][-7:] in {*held}]
    said = [f"{name},{sorting.truth(int(name[-7:-4]) + (name == names[0]))}" for name in names]
    place.write_text("\n".join(["name,label", *said]))
    told = shell.json("judge", "plates", str(place))
    assert told["accuracy"] == pytest.approx(1 - 1 / VAL)


def decide(shell: Shell, run: int, place: Path) -> None:
    """Say of each picture that nobody has named what it is."""
    shell.json("report", str(run), str(place))
    with place.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] in LATER]
    for row in rows:
        truth = sorting.truth(int(row["name"][-7:-4]))
        row |= {"decision": "accept", "label": truth}
    with place.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert shell.json("decide", str(run), str(place))["decisions"] == LEFT


def test_pictures_of_classes_go_the_whole_way(source: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    assert shell.json("import", "plates", str(source / "in"))["images"] == TRAIN + VAL
    assert shell.json("import", "plates", str(source / "more"))["images"] == LEFT
    trained = shell.json("train", "plates", "--family", "classifier", "--epochs", "2", "--wait")
    assert not {"map50", "map"} & {*trained["metrics"]}
    measured = shell.json("evaluate", "plates", "--model", "v1")
    assert measured["accuracy"] == trained["metrics"]["accuracy"]
    judge(shell, tmp_path / "theirs.csv")
    found = shell.json("detect", "plates", "--model", "champion", "--wait")
    sys.stderr.write(f"v1: {measured['accuracy']}; the run: {found['seconds']} s\n")
    assert (found["images"], found["detections"], found["failed"]) == (COUNT, COUNT, 0)
    decide(shell, found["run"], tmp_path / "run.csv")
    done = {row["name"]: row["label"] for row in shell.json("images", "plates", "--state", "done")}
    assert done == {name: sorting.truth(int(name[-7:-4])) for name in done}
    assert len(done) == COUNT
    again = shell.run("train", "plates", "--family", "classifier", "--epochs", "2", "--wait")
    assert re.search(r"v2 is (better|worse) than v1|v2 is not clearly different", again.stdout)
    sys.stderr.write(again.stdout)
    assert shell.run("export", "plates", str(tmp_path / "out"), "--format", "folders").stdout
    back = shell.json("import", "copy", str(tmp_path / "out"))
    assert (back["images"], back["problems"]) == (COUNT, [])
    copied = {row["name"]: row["label"] for row in shell.json("images", "copy")}
    assert Counter(copied.values()) == Counter(done.values())

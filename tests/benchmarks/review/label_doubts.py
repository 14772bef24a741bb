"""Labels damaged on purpose, and how soon Labels in doubt and cleanlab's ObjectLab come to them.

`uv run --with cleanlab python -m tests.benchmarks.review.label_doubts deeppcb --keep`
`… facemask --epochs 8 --image-size 416`; `--report FILE.html` shows the surest doubts that are
about no damage as crops: errors that came with the data, or ours.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from sqlalchemy import select, update

from backend.domain import SnapshotImage, Split
from backend.incoming import places as sources
from backend.jobs import kinds
from backend.labels import labelling
from backend.labels.imports import Into
from backend.projects import catalogue
from backend.review.doubts import asking, inbox
from backend.review.doubts.asking import Wanted
from backend.review.doubts.inbox import Held
from backend.storage.tables import ImageRow
from backend.storage.types import now
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.benchmarks.review import label_crops, label_damage, object_lab
from tests.benchmarks.review.label_damage import Damage, Picture
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.families.base import Detections
from workers.handlers.review import doubts, folds

FIRST = 100


@dataclass(frozen=True, slots=True)
class Ranking:
    """What each of a list is about, by the numbers of the damages; nothing where all is well."""

    name: str
    about: tuple[tuple[int, ...], ...]
    damages: int

    def precision(self, first: int) -> float:
        """The share of the first that is about a damage."""
        seen = self.about[:first]
        return sum(bool(one) for one in seen) / max(1, len(seen))

    def recall(self, first: int) -> float:
        """The share of the damages that the first are about."""
        return len({one for some in self.about[:first] for one in some}) / self.damages


@dataclass(frozen=True, slots=True)
class Searched:
    """The labels that were searched, what models found that did not learn from them, seconds."""

    images: tuple[SnapshotImage, ...]
    classes: tuple[str, ...]
    found: Mapping[int, Detections]
    seconds: float


def main() -> None:
    """Damage, search, rank."""
    asked = _asked()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        _measure(asked, places.make(Path(home)))


def _measure(asked: argparse.Namespace, place: Place) -> None:
    project = _project(place, asked.data, asked.images)
    damages = _damaged(place, project, asked.share, asked.seed)
    searched = _searched(place, project, asked)
    with place.database.read() as session:
        found = inbox.window(session, project, inbox.MOST)
    _tell(asked, place, searched, damages, found)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", choices=("deeppcb", "facemask"))
    parser.add_argument("--images", type=int, default=0, help="only so many, to try it small")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--family", default="")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=0)
    parser.add_argument("--image-size", type=int, default=0)
    parser.add_argument("--report", default="", help="a page of the surest about no damage")
    parser.add_argument("--crops", type=int, default=100, help="how many it shows")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def _project(place: Place, data: str, most: int) -> int:
    """The pictures and labels as they come; of DeepPCB those of trainval."""
    with place.database.read() as session:
        if catalogue.known(session, data):
            return catalogue.find(session, data).id
    into = Into(place.database, place.files, data, "")
    sources.import_(into, str(real_data.unpacked(data)), place.settings)
    with place.database.write.begin() as session:
        project = catalogue.find(session, data).id
        mine = (ImageRow.project_id == project, ~ImageRow.is_golden)
        kept = select(ImageRow.id).where(*mine).order_by(ImageRow.id)
        if data == "deeppcb":
            kept = kept.where(ImageRow.split != Split.TEST)
        ids = session.scalars(kept.limit(most or None)).all()
        away = update(ImageRow).where(*mine, ImageRow.id.not_in(ids))
        session.execute(away.values(deleted=now()))
        return project


def _damaged(place: Place, project: int, share: float, seed: int) -> list[Damage]:
    with place.database.write.begin() as session:
        classes = [one.name for one in catalogue.get(session, project).classes]
        there = select(ImageRow).where(
            ImageRow.project_id == project, ImageRow.deleted.is_(None), ~ImageRow.is_golden
        )
        rows = {row.id: row for row in session.scalars(there.order_by(ImageRow.id))}
        boxes = labelling.boxes_of(session, rows)
        pictures = {id_: Picture(row.width, row.height, boxes[id_]) for id_, row in rows.items()}
        after, damages = label_damage.damage(pictures, classes, share, seed)
        for image, harmed in after.items():
            labelling.save(session, image, 1, harmed, "damage", action="damage")
    return damages


def _searched(place: Place, project: int, asked: argparse.Namespace) -> Searched:
    """Search as the command does, and keep what was found beside."""
    named = {"epochs": asked.epochs, "image_size": asked.image_size}
    parameters: dict[str, Any] = {name: value for name, value in named.items() if value}
    with place.database.write.begin() as session:
        wanted = Wanted(asked.family, folds=asked.folds, parameters=parameters)
        asking.ask(session, project, wanted, "benchmark")
    began = time.perf_counter()
    job = place.claim()
    context = place.context(job)
    request = cast("kinds.Doubts", context.request)
    frozen = doubts.labelled(context, request.snapshot_id)
    found = folds.found(context, request)
    doubts.hold(context, frozen, found)
    return Searched(frozen.images, frozen.classes, found, time.perf_counter() - began)


def _tell(
    asked: argparse.Namespace,
    place: Place,
    searched: Searched,
    damages: Sequence[Damage],
    found: Sequence[Held],
) -> None:
    ours = [tuple(label_damage.about(damages, one.image.id, one.label, one.found)) for one in found]
    theirs = object_lab.ranked(searched.images, searched.classes, searched.found, damages)
    images = dict.fromkeys(one.image.id for one in found)
    whole = tuple(object_lab.of_image(damages, image) for image in images)
    rankings = [
        Ranking("Labels in doubt", tuple(ours), len(damages)),
        Ranking("Labels in doubt, by image", whole, len(damages)),
    ]
    rankings += [Ranking(name, about, len(damages)) for name, about in theirs.items()]
    how = f"{asked.data}, {results.machine()}, {asked.share:.0%} damaged, seed {asked.seed}"
    if asked.epochs:
        how += f", {asked.folds} x {asked.epochs} epochs at {asked.image_size}"
    rows = [Figure("the search", round(searched.seconds, 1), "s", how=how)]
    for one in rankings:
        rows += _figures(one, len(damages), how)
    for row in rows:
        print(f"{row.what:60} {row.value:8g} {row.unit}")
    print(json.dumps(_by_way(rankings, damages), indent=1))
    if asked.report:
        natural = [one for one, about in zip(found, ours, strict=True) if not about]
        label_crops.write(Path(asked.report), place, natural[: asked.crops])
    if asked.keep:
        results.keep("label_doubts", rows)


def _figures(one: Ranking, damages: int, how: str) -> list[Figure]:
    near = f"of {damages} damages, {{}} in the first {2 * damages}"
    share = round(one.recall(2 * damages), 4)
    return [
        Figure(
            f"{one.name}: real among the first {FIRST}", round(one.precision(FIRST), 4), "", how=how
        ),
        Figure(f"{one.name}: found {near.format('share')}", share, "", how=how),
    ]


def _by_way(rankings: Sequence[Ranking], damages: Sequence[Damage]) -> dict[str, dict[str, float]]:
    told: dict[str, dict[str, float]] = {}
    for one in rankings:
        seen = {at for some in one.about[: 2 * len(damages)] for at in some}
        for way in label_damage.WAYS:
            mine = [at for at, damage in enumerate(damages) if damage.way == way]
            if not mine:
                continue
            told.setdefault(one.name, {})[way] = round(
                float(np.mean([at in seen for at in mine])), 3
            )
    return told


if __name__ == "__main__":
    main()

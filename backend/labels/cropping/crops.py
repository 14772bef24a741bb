"""Boxes as a project of their own: each crop knows its box, and its class can go back to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, select
from sqlalchemy.orm import Session, aliased

from backend.domain import Box, Image, State, Task
from backend.errors import Invalid, NotFound, Refused
from backend.labels import images, intake, labelling
from backend.labels.cropping import cutting
from backend.labels.cropping.cutting import Window
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import CropRow, ImageRow
from backend.words import many

PART = 50  # images whose crops are written together
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What was cut: how many crops are new, and how many were there already."""

    crops: int
    known: int

    def __str__(self) -> str:
        there = many(self.known, "was", "were")
        return f"{many(self.crops, 'crop')} added; {there} there already."


@dataclass(frozen=True, slots=True)
class Returned:
    """What went back: boxes of another class now, and crops that lack a class or their box."""

    changed: int
    images: int
    gone: int
    undecided: int

    def __str__(self) -> str:
        return (
            f"{many(self.changed, 'box', 'boxes')} of {many(self.images, 'image')} changed; "
            f"{self.undecided:,} without a class, {self.gone:,} whose box is gone."
        )


@dataclass(frozen=True, slots=True)
class _Crop:
    source: Image
    box: Box
    where: Window
    new: NewImage


def cut(
    database: Database,
    files: Files,
    source: str,
    name: str,
    margin: float,
    author: str,
    told: Told = lambda *_: None,
) -> Made:
    """Cut the boxes of all images that are done into a project of classes; those it has, stay."""
    if not 0 <= margin <= cutting.MOST_MARGIN:
        raise Invalid(f"The margin must be from 0 to {cutting.MOST_MARGIN:g}, not {margin:g}.")
    with database.read.begin() as session:
        wanted = _wanted(session, catalogue.find(session, source).id)
    if not wanted:
        raise Refused(f"{source} has no image that is done and has boxes: there is nothing to cut.")
    with database.write.begin() as session:
        project = _into(session, source, name)
    added = seen = 0
    for start in range(0, len(wanted), PART):
        told(start, len(wanted))
        crops = list(_crops(database, files, wanted[start : start + PART], margin))
        with database.write.begin() as session:
            added += _add(session, project, crops, author)
        seen += len(crops)
    return Made(added, seen - added)


def give_back(database: Database, source: str, name: str, author: str) -> Returned:
    """Give each box the class that its crop has been given since, as a revision of its image."""
    with database.read.begin() as session:
        home = catalogue.find(session, source).id
        told = list(_decided(session, catalogue.find(session, name).id, home))
    if not told:
        raise Refused(f"{name} has no crop that was cut out of {source}.")
    counts = dict.fromkeys(("changed", "images", "gone", "undecided"), 0)
    for source_id, group in groupby(told, key=lambda one: one[0].source_id):
        crops = list(group)
        with database.write.begin() as session:
            changed = _give(session, source_id, crops, author, counts)
        counts["changed"] += changed
        counts["images"] += bool(changed)
    return Returned(**counts)


def _wanted(session: Session, project_id: int) -> list[int]:
    query = select(ImageRow.id).where(
        ImageRow.project_id == project_id,
        ImageRow.state == State.DONE,
        ImageRow.boxes > 0,
        ~ImageRow.is_golden,
        ImageRow.deleted.is_(None),
    )
    return list(session.scalars(query.order_by(ImageRow.id)))


def _into(session: Session, source: str, name: str) -> int:
    """The project of the crops; one that is there must be of whole pictures."""
    if not catalogue.known(session, name):
        kinds = [one.name for one in catalogue.find(session, source).classes]
        return catalogue.create(session, name, Task.CLASSIFY, kinds).id
    found = catalogue.find(session, name)
    if found.task is not Task.CLASSIFY:
        raise Refused(f"{name} is a project of boxes; crops need one of whole pictures, or none.")
    return found.id


def _crops(
    database: Database, files: Files, image_ids: Sequence[int], margin: float
) -> Iterator[_Crop]:
    with database.read.begin() as session:
        boxes = labelling.boxes_of(session, image_ids)
        sources = [images.get(session, one) for one in image_ids if boxes.get(one)]
    for source in sources:
        pixels = _pixels(files, source)
        for box in boxes[source.id]:
            where = cutting.window(box, pixels.shape[1], pixels.shape[0], margin)
            yield _Crop(source, box, where, _picture(files, source, box, pixels, where))


def _pixels(files: Files, image: Image) -> NDArray[np.uint8]:
    content = np.fromfile(files.local_path(image.sha256), np.uint8)
    found = cv2.imdecode(content, cv2.IMREAD_COLOR)
    if found is None:
        raise NotFound(f"The picture {image.name} cannot be read any more.")
    return np.asarray(found, np.uint8)


def _picture(
    files: Files, source: Image, box: Box, pixels: NDArray[Any], where: Window
) -> NewImage:
    """A crop as a picture of its own; those of one board stay on one side of a training."""
    _, encoded = cv2.imencode(".png", cutting.cut(pixels, where))
    x1, y1, x2, y2 = where
    return NewImage(
        name=_name(source.name, box.id),
        sha256=files.put(encoded.tobytes()),
        width=x2 - x1,
        height=y2 - y1,
        label=box.label,
        split=source.split,
        group=source.group or source.name[-300:],
        labelled=True,
    )


def _name(source: str, box_id: str) -> str:
    """A crop lies in a folder of its source's name; of a very long one its last folders."""
    ending = f"/{box_id}.png"
    folder, most = str(PurePosixPath(source).with_suffix("")), intake.LONGEST_NAME - len(ending)
    if len(folder) <= most:
        return folder + ending
    # What is left of a folder's name might lead elsewhere.
    cut, slash, rest = folder[-most:].partition("/")
    return (rest if slash else cut) + ending


def _add(session: Session, project: int, crops: Sequence[_Crop], author: str) -> int:
    names = [crop.new.name for crop in crops]
    there = images.ids(session, project, names)
    fresh = [crop for crop in crops if crop.new.name not in there]
    images.add(session, project, [crop.new for crop in fresh], author)
    ids = images.ids(session, project, [crop.new.name for crop in fresh])
    engine.bulk_insert(session, CropRow, [_row(ids[crop.new.name], crop) for crop in fresh])
    return len(fresh)


def _row(image_id: int, crop: _Crop) -> dict[str, Any]:
    corners = dict(zip(("x1", "y1", "x2", "y2"), crop.where, strict=True))
    return {
        "image_id": image_id,
        "source_id": crop.source.id,
        "box_id": crop.box.id,
        "class_id": crop.box.class_id,
        **corners,
    }


def _decided(session: Session, project: int, home: int) -> Iterator[tuple[CropRow, str]]:
    """Each crop with the class that it has now, those of one image of `home` together.

    One that is not done has none yet, whatever stands there.
    """
    source = aliased(ImageRow)
    names = class_names.of(session, project)
    query = (
        select(CropRow, case((ImageRow.state == State.DONE, ImageRow.label_id)))
        .join(ImageRow, ImageRow.id == CropRow.image_id)
        .join(source, source.id == CropRow.source_id)
        .where(ImageRow.project_id == project, ImageRow.deleted.is_(None))
        .where(source.project_id == home)
        .order_by(CropRow.source_id, CropRow.image_id)
    )
    for row, label_id in session.execute(query):
        session.expunge(row)
        yield row, names.name(label_id) if label_id is not None else ""


def _give(
    session: Session,
    source_id: int,
    crops: Sequence[tuple[CropRow, str]],
    author: str,
    counts: dict[str, int],
) -> int:
    """How many boxes of an image are of another class now."""
    row = session.get(ImageRow, source_id)
    if row is None or row.deleted is not None:  # put away meanwhile, or before
        counts["gone"] += len(crops)
        return 0
    version = labelling.version_of(session, source_id)
    boxes = {box.id: box for box in labelling.boxes_of(session, [source_id])[source_id]}
    known = class_names.of(session, row.project_id)
    changed: dict[str, Box] = {}
    alike: list[tuple[CropRow, str]] = []
    for crop, label in crops:
        if not label:
            counts["undecided"] += 1
        elif crop.box_id not in boxes:
            counts["gone"] += 1
        elif label == known.name(crop.class_id):
            continue
        else:
            alike.append((crop, label))
            if label != boxes[crop.box_id].label:
                changed[crop.box_id] = replace(boxes[crop.box_id], label=label, class_id=None)
    if changed:
        _save(session, row, version, {**boxes, **changed}, author)
    _remember(session, row.project_id, alike)
    return len(changed)


def _save(
    session: Session, row: ImageRow, version: int, boxes: Mapping[str, Box], author: str
) -> None:
    classes.ensure_all(session, row.project_id, {box.label for box in boxes.values()})
    labelling.save(session, row.id, version, list(boxes.values()), author, action="crops")


def _remember(session: Session, project_id: int, alike: Sequence[tuple[CropRow, str]]) -> None:
    """Box and crop have one class again, so that what is said of the box from now on stays."""
    known = class_names.of(session, project_id).ids
    for crop, label in alike:
        session.get_one(CropRow, crop.image_id).class_id = known[label]

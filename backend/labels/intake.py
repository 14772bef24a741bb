"""One picture from outside on its way into a project: judged, stored, then added in a chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import safe_pictures
from backend.domain import Box, Project, State, Task
from backend.errors import Invalid, Unavailable
from backend.formats import box_bounds
from backend.formats.base import Item, Problem
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.previews.first_look import FirstLook
from backend.projects import classes
from backend.safe_pictures import PictureHeader
from backend.storage.files import Files
from backend.storage.tables import ImageRow
from backend.storage.writers import locks

LONGEST_NAME = 1000
_AWAY = "this picture was deleted from the project and stays so; its labels are left out."
_TAKEN = "the project has another picture of this name, which stays as it is."


@dataclass(frozen=True, slots=True)
class Known:
    """What a project already has under a name."""

    name: str
    id: int
    sha256: str
    version: int
    golden_id: int | None
    put_away: bool
    lot: str
    is_golden: bool

    def has(self, data: bytes) -> bool:
        """Whether these are its bytes."""
        return hashlib.sha256(data).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True)
class Ready:
    """A picture whose bytes are in the store, its labels held against it."""

    image: NewImage
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Counts:
    """What came of the pictures so far."""

    images: int = 0
    goldens: int = 0
    boxes: int = 0
    skipped: int = 0
    duplicates: int = 0
    problems: list[Problem] = field(default_factory=list)


def known(session: Session, project_id: int, names: Sequence[str]) -> dict[str, Known]:
    """What the project has under these names, also of pictures put away."""
    query = select(
        ImageRow.name,
        ImageRow.id,
        ImageRow.sha256,
        ImageRow.version,
        ImageRow.golden_id,
        ImageRow.deleted.is_not(None),
        ImageRow.group,
        ImageRow.is_golden,
    ).where(ImageRow.project_id == project_id, ImageRow.name.in_(names))
    return {name: Known(name, *rest) for name, *rest in session.execute(query)}


def prepare(
    item: Item, there: Known | None, before: Known | None, files: Files, look: FirstLook
) -> Ready | Problem:
    """Read, check and store a picture; runs in a thread of its own.

    `before` may be the same picture, which came in under another name.
    """
    try:
        data = item.read()
        if there is None and before and before.has(data):
            item, there = replace(item, name=before.name), before
        if there and there.has(data) and (there.version or not item.labelled):
            return Ready(_new(item, there.sha256))
        checked = safe_pictures.check(data, "it")
        _check_name(item.name)
    except Invalid as error:
        return Problem(item.file, None, str(error))
    except OSError as error:
        return Problem(item.file, None, f"it cannot be read: {error.strerror or error}.")
    boxes, problems = _boxes(item, checked.header)
    label = item.label if not box_bounds.why_no_class(item.label) else ""
    if item.label and not label:
        problems.append(Problem(item.file, None, box_bounds.why_no_class(item.label)))
    labelled = item.labelled and not (item.boxes and not boxes) and label == item.label
    new = _new(item, _stored(files, checked.data), checked.header, boxes, labelled=labelled)
    look.keep(new.sha256, checked.small)
    return Ready(new, tuple(problems))


def add(session: Session, project: Project, ready: Sequence[Ready], author: str) -> Counts:
    """Add the pictures whose names are new; complete those that came without labels before."""
    counts = Counts()
    locks.naming(session, project.id)
    there = known(session, project.id, [one.image.name for one in ready])
    fresh: dict[str, NewImage] = {}
    for one in ready:
        image, unsuited = _suited(one.image, project.task)
        have = there.get(image.name)
        if (have and have.sha256 != image.sha256) or image.name in fresh:
            counts.problems.append(Problem(image.name, None, _TAKEN))
            continue
        if have is None or not have.version:
            counts.problems += [*one.problems, *unsuited]
        if have is None:
            fresh[image.name] = image
        elif have.put_away:
            counts.skipped += 1
            counts.problems += [Problem(image.name, None, _AWAY)] if _lacks(have, image) else []
        else:
            counts.skipped += 1
            _complete(session, project, have, image, author)
    _count(counts, fresh, session, project)
    images.add(session, project.id, list(fresh.values()), author)
    return counts


def _new(
    item: Item,
    sha256: str,
    header: PictureHeader | None = None,
    boxes: tuple[Box, ...] = (),
    *,
    labelled: bool = False,
) -> NewImage:
    return NewImage(
        name=item.name,
        sha256=sha256,
        width=header.width if header else 0,
        height=header.height if header else 0,
        boxes=boxes,
        label=item.label if labelled else "",
        split=item.split,
        group=item.group,
        golden=item.golden,
        is_golden=item.is_golden,
        labelled=labelled,
    )


def _boxes(item: Item, header: PictureHeader) -> tuple[tuple[Box, ...], list[Problem]]:
    boxes, problems = box_bounds.fit(item, header)
    if len(boxes) > labelling.MOST_BOXES:
        reason = f"it has {len(boxes):,} boxes; an image takes at most {labelling.MOST_BOXES:,}."
        return (), [*problems, Problem(item.label_file, None, reason)]
    return boxes, problems


def _check_name(name: str) -> None:
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise Invalid(
            f"its name {name[:80]!r} cannot be the name of an image: it is too long or unreadable."
        )


def _stored(files: Files, data: bytes) -> str:
    try:
        return files.put(data)
    except OSError as error:
        raise Unavailable(f"The file store cannot be written: {error}.") from error


def _suited(image: NewImage, task: Task) -> tuple[NewImage, tuple[Problem, ...]]:
    """A class of the whole image says nothing in a project of boxes."""
    if task != Task.DETECT or not image.label:
        return image, ()
    reason = f"its class {image.label!r} is left out, because the project is one of boxes."
    bare = replace(image, label="", labelled=bool(image.boxes))
    return bare, (Problem(image.name, None, reason),)


def _complete(
    session: Session, project: Project, have: Known, image: NewImage, author: str
) -> None:
    """Give an image that is there what it still lacks: first labels, its golden."""
    if _lacks(have, image):
        names = {image.label, *(box.label for box in image.boxes)} - {""}
        classes.ensure_all(session, project.id, names)
        labelling.save(
            session,
            have.id,
            have.version,
            image.boxes,
            author,
            state=State.DONE,
            label=image.label or None,
            action="import",
        )
    if image.golden and have.golden_id is None:
        golden = images.ids(session, project.id, [image.golden]).get(image.golden)
        images.set_golden(session, [have.id], golden)


def _lacks(have: Known, image: NewImage) -> bool:
    """Whether an image comes with the first labels of one that is there."""
    return image.labelled and not have.version


def _count(
    counts: Counts, fresh: Mapping[str, NewImage], session: Session, project: Project
) -> None:
    hashes = {image.sha256 for image in fresh.values()}
    query = select(ImageRow.sha256).where(
        ImageRow.project_id == project.id, ImageRow.sha256.in_(hashes)
    )
    seen = set(session.scalars(query))
    for image in fresh.values():
        counts.goldens += image.is_golden
        counts.images += not image.is_golden
        counts.boxes += len(image.boxes)
        counts.duplicates += image.sha256 in seen and not image.is_golden
        seen.add(image.sha256)

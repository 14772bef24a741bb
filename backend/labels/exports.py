"""Writes a project's pictures and labels in a format that other programs read.

The export grows beside its place and takes it only when it is complete.
"""

from __future__ import annotations

import functools
import shutil
import uuid
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from backend.domain import Box, Image, Project, State, Task
from backend.errors import Refused
from backend.formats import format_table
from backend.formats.base import OutgoingPicture, Problem, Written
from backend.labels import export_choice, images, labelling
from backend.labels.export_choice import ExportOptions, Leaving
from backend.projects import catalogue
from backend.storage.files import Files
from backend.storage.tables import ImageRow

PAGE = 500


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what the format could not carry.

    `left_out` tells how many images of which state were not asked for, `splits` how many left
    with which.
    """

    path: Path
    images: int
    goldens: int
    boxes: int
    problems: tuple[Problem, ...]
    left_out: Mapping[str, int]
    splits: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The result as programs read it."""
        problems = [
            {"file": one.file, "line": one.line, "reason": one.reason} for one in self.problems
        ]
        return {
            "path": str(self.path),
            "images": self.images,
            "goldens": self.goldens,
            "boxes": self.boxes,
            "problems": problems,
            "left_out": dict(self.left_out),
            "splits": dict(self.splits),
        }


def run(
    session: Session,
    files: Files,
    project: str,
    out: Path,
    format_name: str,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    asked: ExportOptions = export_choice.WITHOUT_MORE,
) -> Exported:
    """Write the images that were asked for into a new folder, or a new .zip."""
    row = format_table.find(format_name)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is there already; choose a new place for the export.")
    found = catalogue.find(session, project)
    chosen = export_choice.choose(session, found.id, asked)
    if not chosen.total:
        raise Refused(_why_nothing(found, chosen))
    export = _Export(session, files, found, row, progress, chosen)
    part = out.with_name(f".{out.name}.{uuid.uuid4().hex}.part")
    part.mkdir(parents=True)
    try:
        export.write(part)
        _put_in_place(part, out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Exported(
        out,
        export.images,
        export.goldens,
        export.boxes,
        tuple(export.problems),
        chosen.stay,
        chosen.splits,
    )


def _why_nothing(project: Project, chosen: Leaving) -> str:
    if not chosen.stay:
        return f"{project.name!r} has no image that fits what was asked for; nothing is exported."
    states = " or ".join(chosen.asked.chosen.states)
    return (
        f"None of the {chosen.stay.total():,} images that were asked for is {states}, so nothing "
        f"is exported; ask for the state {export_choice.ALL!r} to export them as they are."
    )


@dataclass(slots=True)
class _Export:
    """One export under way."""

    session: Session
    files: Files
    project: Project
    format: format_table.Format
    progress: Callable[[int, int], None]
    chosen: Leaving
    images: int = 0
    goldens: int = 0
    boxes: int = 0
    problems: list[Problem] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)

    def write(self, folder: Path) -> None:
        """Write all pictures, goldens first."""
        classes = [kind.name for kind in self.project.classes]
        if not self.format.boxes and self.project.task == Task.DETECT:
            classes = []
        total = self._total()
        with closing(self.format.write(self._pictures(), folder, classes)) as writing:
            for done in writing:
                if isinstance(done, Problem):
                    self.problems.append(done)
                    continue
                self._count(done)
                self.progress(min(self.images + self.goldens, total), total)
        self.problems[:0] = list(self._left_out())

    def _left_out(self) -> Iterator[Problem]:
        for what, number in self.lost.items():
            if number:
                reason = f"{self.format.name} carries no {what} (left out: {number:,})."
                yield Problem(self.project.name, None, reason)

    def _count(self, done: Written) -> None:
        self.goldens += done.is_golden
        self.images += not done.is_golden
        self.boxes += done.boxes

    def _total(self) -> int:
        if self.chosen.asked.narrowed:
            return self.chosen.total + len(self.chosen.goldens)
        query = select(func.count()).select_from(ImageRow).where(*self._goldens())
        return self.chosen.total + (self.session.scalar(query) or 0)

    def _goldens(self) -> Sequence[ColumnElement[bool]]:
        here = ImageRow.project_id == self.project.id
        return here, ImageRow.is_golden.is_(True), ImageRow.deleted.is_(None)

    def _pictures(self) -> Iterator[OutgoingPicture]:
        goldens: dict[int, Image] = {}
        for is_golden in (True, False):
            for page in self._pages(is_golden=is_golden):
                if is_golden:
                    goldens.update((image.id, image) for image in page)
                boxes = labelling.boxes_of(self.session, [image.id for image in page])
                for image in page:
                    if reason := self._why_not(image):
                        goldens.pop(image.id, None)
                        self.problems.append(Problem(image.name, None, reason))
                    else:
                        self._note_lost(image, boxes[image.id])
                        golden = goldens.get(image.golden_id or 0)
                        yield self._picture(image, boxes[image.id], golden)

    def _why_not(self, image: Image) -> str:
        """Why the bytes of a picture cannot be handed out, if they cannot."""
        if not self.files.has(image.sha256):
            return "its bytes are not in the store any more."
        if not self.files.intact(image.sha256):
            return "its bytes have changed since it came in; bring its file back from a backup."
        return ""

    def _pages(self, *, is_golden: bool) -> Iterator[list[Image]]:
        last = 0
        where = self._goldens() if is_golden else (self.chosen.where,)
        query = select(ImageRow).where(*where).order_by(ImageRow.id).limit(PAGE)
        while True:
            following = query.where(ImageRow.id > last)
            page = images.of_rows(self.session, self.session.scalars(following))
            if not page:
                return
            yield [image for image in page if self.chosen.takes(image)]
            last = page[-1].id
            self.session.expunge_all()

    def _note_lost(self, image: Image, boxes: tuple[Box, ...]) -> None:
        """Count what the format has no place for."""
        if image.label and not self.format.labels:
            self.lost["classes of images"] += 1
        if not self.format.boxes:
            self.lost["boxes"] += len(boxes)
            self.lost["pictures marked as clean"] += not boxes and self._is_looked_at(image)

    def _is_looked_at(self, image: Image) -> bool:
        """Whether having no box says that there is no defect."""
        return image.state == State.DONE and self.project.task == Task.DETECT

    def _picture(
        self, image: Image, boxes: tuple[Box, ...], golden: Image | None
    ) -> OutgoingPicture:
        return OutgoingPicture(
            image.name,
            functools.partial(self.files.read, image.sha256),
            image.width,
            image.height,
            boxes,
            self._is_looked_at(image) or bool(boxes),
            image.label,
            self.chosen.split(image),
            image.group,
            golden.name if golden else "",
            functools.partial(self.files.read, golden.sha256) if golden else None,
            image.is_golden,
            image.id,
            none=self.project.task is Task.CLASSIFY and image.state is State.DONE,
        )


def _put_in_place(part: Path, out: Path) -> None:
    """Move a complete export to its place, packed if the place is called .zip."""
    if out.suffix.lower() != ".zip":
        if out.exists():
            out.rmdir()
        part.replace(out)
        return
    packed = part.with_suffix(".packing")
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in sorted(part.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(part))
        packed.replace(out)
    finally:
        packed.unlink(missing_ok=True)

"""Brings pictures and labels from outside into a project.

Unlike its neighbours it opens its own transactions, one a chunk, so that an import of any size
can be killed and run again: what is there is skipped, what is missing is added.
"""

from __future__ import annotations

import itertools
import posixpath
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from sqlalchemy.orm import Session

from backend.domain import Project, Task
from backend.errors import Invalid, NotFound
from backend.formats import box_bounds, format_table, goldens, masks
from backend.formats.base import Classes, Found, Item, Problem
from backend.formats.source import tree
from backend.formats.source.tree import Tree
from backend.formats.strange import unread
from backend.jobs import holder
from backend.labels import images, intake, lots
from backend.labels.intake import Counts, Ready
from backend.previews.first_look import FirstLook
from backend.projects import catalogue, classes
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.writers import retries

CHUNK = 128
MOST_PROBLEMS = 10_000  # that are kept; the others are counted
THREADS = 2
DEEP = (
    "it lies in a folder within a folder: those are taken for classes only below train/, val/ or "
    "test/, or where a classes.txt names them. It and others like it have no class."
)
LONGEST = 7 * 24 * 3600  # seconds that what another machine unpacked may be needed


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import has added, what was there before, and what could not be used.

    `duplicates` are pictures that the project has under another name too; they are added.
    `problems` are the first of what could not be used, `unusable` is how many that were.
    """

    images: int
    goldens: int
    boxes: int
    skipped: int
    duplicates: int
    problems: tuple[Problem, ...]
    unusable: int

    def as_json(self) -> dict[str, Any]:
        """The result as programs read it."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["problems"] = [
            {"file": one.file, "line": one.line, "reason": one.reason} for one in self.problems
        ]
        return values


@dataclass(frozen=True, slots=True)
class Into:
    """Where an import goes; the project is made if need be.

    `lot` is the group of all pictures that come, and they stand below its name, since stations
    call the boards of every lot alike; a golden serves every lot.
    `fence` is called first in every transaction that writes, `progress` with the pictures done
    and all pictures; either may raise to end the import.
    """

    database: Database
    files: Files
    project: str
    author: str
    fence: Callable[[Session], None] = lambda _: None
    progress: Callable[[int, int], None] = lambda _done, _all: None
    lot: str = ""


def run(
    into: Into,
    source: Path | Tree,
    settings: Settings,
    format_name: str = format_table.AUTO,
    masks_by: str = masks.SAID,
) -> Imported:
    """Import a folder, an archive, a label file, a picture, or files that lie anywhere.

    Masks come only where they are wanted.
    """
    masks.check(masks_by)
    check_lot(into.lot)
    classes.check_name(into.project, "project")
    with _scratch(settings.cache / "unpacked") as scratch:
        opened = source
        if isinstance(opened, Path):
            opened = tree.open_source(opened, scratch, int(settings.max_upload_gb * 1e9))
        if opened.problems and not opened.pictures:
            return Imported(0, 0, 0, 0, 0, opened.problems, len(opened.problems))
        whole = opened
        found = masks.find(whole)
        opened = found.without(whole)
        parts = format_table.parts(opened, format_name)
        importing = _Import(
            into, sum(len(part.tree.pictures) for part in parts), FirstLook(settings)
        )
        importing.note(opened.problems)
        importing.note(unread.find(opened, parts))
        if masks_by == masks.SAID and not any(part.format.boxes for part in parts):
            importing.note(found.problem())
        for part in parts:
            home = part.tree.prefix.removeprefix(opened.prefix)
            with closing(part.format.read(part.tree)) as reading:
                items: Iterable[Found] = reading
                if found.files and masks_by in (masks.INSTANCE, masks.COLOUR):
                    items = masks.read(reading, whole, found, home, masks_by)
                importing.take(_placed(items, part.prefix))
    return importing.result()


def take(into: Into, found: Iterable[Found], total: int, settings: Settings) -> Imported:
    """Import what somebody else reads, of about so many pictures."""
    check_lot(into.lot)
    classes.check_name(into.project, "project")
    importing = _Import(into, total, FirstLook(settings))
    importing.take(found)
    return importing.result()


def check_lot(lot: str) -> None:
    """Refuse what cannot be the name of a group, and of a folder; nothing is none."""
    check_group(lot)
    if (lot and posixpath.normpath(f"a/{lot}") != f"a/{lot}") or "\\" in lot:
        raise Invalid(f"A lot is the folder of its pictures, and {lot!r} cannot be one.")


def check_group(name: str) -> None:
    """Refuse what cannot be the name of a group; nothing is none."""
    if len(name) > goldens.LONGEST_GROUP or not name.isprintable() or name != name.strip():
        raise Invalid("A lot is named by up to 300 printable characters, without spaces around.")
    images.refuse_none(name)


@dataclass(slots=True)
class _Import:
    """One import under way."""

    into: Into
    total: int
    look: FirstLook
    counts: Counts = field(default_factory=Counts)
    classes: list[str] = field(default_factory=list)
    of_images: bool = False
    project: Project | None = None
    done: int = 0
    unusable: int = 0
    told_of_depth: bool = False

    def note(self, problems: Iterable[Problem]) -> None:
        """Count what cannot be used; a source of millions may have as many problems."""
        for one in problems:
            self.unusable += 1
            if len(self.counts.problems) < MOST_PROBLEMS:
                self.counts.problems.append(one)

    def result(self) -> Imported:
        """What came of it."""
        counts = self.counts
        return Imported(
            counts.images,
            counts.goldens,
            counts.boxes,
            counts.skipped,
            counts.duplicates,
            tuple(counts.problems),
            self.unusable,
        )

    def take(self, found: Iterable[Found]) -> None:
        """Store and write chunk after chunk; while one is decoded, the one before is written."""
        self._find_project()
        with ThreadPoolExecutor(THREADS, "import") as pool:
            decoded: Iterable[Ready | Problem] = ()
            lot = lots.Lot(self.into.lot, lambda name: self._known([name]).get(name))
            for chunk in _chunks(self._items(lot.placed(found))):
                there = self._known([name for item in chunk for name in lot.names(item)])
                known = [there.get(item.name) for item in chunk]
                before = [lot.before(item, there) for item in chunk]
                kept = itertools.repeat(self.into.files), itertools.repeat(self.look)
                ready = pool.map(intake.prepare, chunk, known, before, *kept)
                self._write(list(decoded))
                decoded = ready
            self._write(list(decoded))

    def _items(self, found: Iterable[Found]) -> Iterator[Item]:
        for one in found:
            if isinstance(one, Problem):
                self.note([one])
            elif isinstance(one, Classes):
                self.classes.extend(one.names)
                self.of_images |= one.of_images
            else:
                self._look_at(one)
                yield replace(one, labelled=self._labelled(one))

    def _look_at(self, item: Item) -> None:
        """Whoever sorts pictures is told of the first whose folders were taken for no classes."""
        of_classes = self.project is not None and self.project.task is Task.CLASSIFY
        if (
            of_classes
            and not self.of_images
            and not self.told_of_depth
            and item.file.count("/") > 1
        ):
            self.told_of_depth = True
            self.note([Problem(item.file, None, DEEP)])

    def _labelled(self, item: Item) -> bool:
        """That a picture is of none of the classes does not say that there is no box on it."""
        boxed = self.project is not None and self.project.task is Task.DETECT
        bare = self.of_images and not (item.label or item.label_file or item.boxes)
        return item.labelled and not (boxed and bare)

    def _find_project(self) -> None:
        with self.into.database.read.begin() as session:
            try:
                self.project = catalogue.find(session, self.into.project)
            except NotFound:
                self.project = None  # made with the first pictures, so never empty

    def _known(self, names: Sequence[str]) -> dict[str, intake.Known]:
        if self.project is None:
            return {}
        with self.into.database.read.begin() as session:
            return intake.known(session, self.project.id, names)

    def _write(self, done: Sequence[Ready | Problem]) -> None:
        ready = [one for one in done if isinstance(one, Ready)]
        self.note(one for one in done if isinstance(one, Problem))
        if ready:
            with retries.patient(self.into.database.write.begin)() as session:
                self.into.fence(session)
                project = self._project(session, ready)
                added = intake.add(session, project, ready, self.into.author)
            self.project = project
            self._add(added)
        self.done += len(done)
        self.into.progress(min(self.done, self.total), self.total)

    def _project(self, session: Session, ready: Sequence[Ready]) -> Project:
        """The project, with the classes of the source in the source's order."""
        classifies = self.of_images or any(one.image.label for one in ready)
        task = Task.CLASSIFY if classifies else Task.DETECT
        project = self.project or catalogue.find_or_create(session, self.into.project, task)
        names = [name for name in self.classes if not box_bounds.why_no_class(name)]
        classes.ensure_all(session, project.id, names)
        self.classes.clear()
        return project

    def _add(self, added: Counts) -> None:
        for name in ("images", "goldens", "boxes", "skipped", "duplicates"):
            setattr(self.counts, name, getattr(self.counts, name) + getattr(added, name))
        self.note(added.problems)


def _placed(found: Iterable[Found], prefix: str) -> Iterator[Found]:
    """What a part holds; names and files as they are in the whole source."""
    for one in found:
        if isinstance(one, Item) and prefix:
            yield replace(
                one,
                name=prefix + one.name,
                golden=one.golden and prefix + one.golden,
                file=prefix + one.file,
                label_file=prefix + one.label_file,
            )
        elif isinstance(one, Problem):
            yield replace(one, file=prefix + one.file)
        else:
            yield one


def _chunks(items: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(itertools.islice(items, CHUNK)):
        yield chunk


@contextmanager
def _scratch(home: Path) -> Iterator[Path]:
    """A folder to unpack into; what killed imports left behind is cleared away first."""
    home.mkdir(parents=True, exist_ok=True)
    for old in home.iterdir():
        if _is_left(old):
            shutil.rmtree(old, ignore_errors=True)
    ours = quote(holder.me(), safe="")
    with tempfile.TemporaryDirectory(prefix=f"{ours}-", dir=home) as scratch:
        yield Path(scratch)


def _is_left(folder: Path) -> bool:
    """Whether the process that unpacked there is dead; of one elsewhere, only time can tell."""
    try:
        silent = time.time() - folder.stat().st_mtime
    except FileNotFoundError:  # its process has just removed it
        return False
    return holder.gone(unquote(folder.name.rpartition("-")[0])) or silent > LONGEST

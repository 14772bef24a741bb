"""The files of a source by their relative names: a folder, an archive or a manifest alike."""

from __future__ import annotations

import heapq
import itertools
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from backend.errors import Invalid, NotFound
from backend.formats import picture_names
from backend.formats.base import Finding, Problem
from backend.formats.source import archives, shelf

ENDINGS = (".jpg", ".png", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".jpe", ".jfif")
PICTURES = frozenset(ENDINGS)
NOT_PICTURES = frozenset({".svg", ".gif", ".heic", ".heif", ".avif", ".psd"})
TEXTS = frozenset(
    {".xml", ".txt", ".json", ".yaml", ".yml", ".names", ".data", ".csv", ".tsv"}
    | {".jsonl", ".ndjson", ".manifest"}
)
MOST_TEXT = 64 * 1024 * 1024
MOST_LOOKED_AT = 200  # files, to recognise a format
MOST_BYTES = 1_000_000_000  # of one picture
MOST_NAMED = 1000  # files of one ending that are told apart by their place
_LINE = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True, eq=False)
class Tree:
    """A source's files; `manifest` is the one that the person pointed at, if it was a file.

    A file lies at `root` under its name (after `prefix`), or under another that `files` gives.
    There may be millions: their names are on disk, and nothing here makes a list of all. `empty`
    are folders that hold nothing, each with a slash behind it, and not too many.
    """

    root: str
    files: shelf.Texts
    manifest: str = ""
    problems: tuple[Problem, ...] = ()
    prefix: str = ""
    empty: tuple[str, ...] = ()

    @cached_property
    def pictures(self) -> shelf.NameSet:
        """The names of all that means to be a picture, in order."""
        return shelf.NameSet(name for name in self.files if is_picture(name))

    def path(self, name: str) -> Path:
        """Where a file lies."""
        return Path(self.root, self.files[name] or self.prefix + name)

    def picture(self, stem: str) -> str:
        """The picture of that path without its ending; '' where there is none."""
        endings = itertools.chain.from_iterable((one, one.upper()) for one in ENDINGS)
        return next((stem + ending for ending in endings if stem + ending in self.files), "")

    def label_texts(self) -> Iterator[str]:
        """Text files of a picture's stem that hold something: some, from all over the source."""
        every = max(1, sum(1 for _ in self.beside_pictures(".txt")) // MOST_LOOKED_AT)
        found = self.beside_pictures(".txt")
        filled = (name for name in found if self.path(name).stat().st_size)
        yield from itertools.islice(filled, 0, None, every)

    def beside_pictures(self, ending: str) -> Iterator[str]:
        """The files of that ending whose stem is a picture's."""
        for name in self.files:
            if name.lower().endswith(ending) and PurePosixPath(name).stem in self.by_stem:
                yield name

    @cached_property
    def by_stem(self) -> shelf.Index:
        """The pictures by their names without folder and ending."""
        return shelf.Index((PurePosixPath(name).stem, name) for name in self.pictures)

    @cached_property
    def _by_base(self) -> shelf.Index:
        return shelf.Index((posixpath.basename(name), name) for name in self.files)

    def named(self, *endings: str) -> list[str]:
        """The files whose names end so, those nearest to the root first, and not too many."""
        chosen = (name for name in self.files if name.lower().endswith(endings))
        return _nearest(chosen)

    def called(self, *bases: str) -> list[str]:
        """The files of these names in any folder, those nearest to the root first."""
        return _nearest(name for name in self.files if posixpath.basename(name).lower() in bases)

    def find(self, name: str, *bases: str) -> str:
        """The file that a label file means by a name; '' where there is none, or two.

        Tried below each of `bases`, then as the end of any file's path, so that lists written
        on another machine (`/home/x/data/a.jpg`, `../a.jpg`) still lead to the file here.
        """
        name = name.replace("\\", "/")
        for base in (*bases, ""):
            exact = posixpath.normpath(posixpath.join(base, name)).removeprefix("./")
            if exact in self.files:
                return exact
        parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", ".")]
        candidates = self._by_base.get(parts[-1]) if parts else []
        for start in range(len(parts)):
            ending = "/".join(parts[start:])
            found = [one for one in candidates if one == ending or one.endswith("/" + ending)]
            if found:
                return found[0] if len(found) == 1 else ""
        return ""

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        path = self.path(name)
        if path.stat().st_size > MOST_BYTES:
            raise Invalid(f"{name} is larger than {MOST_BYTES // 10**6} MB.")
        return path.read_bytes()

    def bounded(self, name: str) -> bytes:
        """The bytes of a label file, refused where it is too large to be one."""
        if self.path(name).stat().st_size > MOST_TEXT:
            raise Invalid(f"it is larger than {MOST_TEXT // 1024 // 1024} MB, too much for labels.")
        return self.read(name)

    def text(self, name: str) -> str:
        """A text file, with its byte order mark dropped."""
        try:
            return self.bounded(name).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Invalid(f"it is not UTF-8 text: {error.reason} at byte {error.start}.") from error

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """The lines of a text file that hold something, with their numbers."""
        for index, line in enumerate(_LINE.finditer(self.text(name)), 1):
            if line[0].strip():
                yield index, line[0].strip()

    def parts(self) -> dict[str, Tree]:
        """The trees of those folders at the root that hold pictures and perhaps their labels."""
        pictured = {name.split("/")[0] for name in self.pictures if "/" in name}
        texts = {name.split("/")[0] for name in self.files if suffix(name) in TEXTS}
        return {folder: self._below(f"{folder}/") for folder in sorted(pictured & texts)}

    def _below(self, start: str) -> Tree:
        files = shelf.Texts(
            (name.removeprefix(start), path)
            for name, path in self.files.pairs()
            if name.startswith(start)
        )
        empty = tuple(one.removeprefix(start) for one in self.empty if one.startswith(start))
        return replace(self, files=files, prefix=self.prefix + start, problems=(), empty=empty)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders at the root."""
        return tuple(dict.fromkeys(name.split("/")[0] for name in self.files if "/" in name))


Read = Callable[[Tree], Finding]


def _nearest(names: Iterable[str]) -> list[str]:
    return heapq.nsmallest(MOST_NAMED, names, key=lambda name: (name.count("/"), name))


def suffix(name: str) -> str:
    """A name's ending, in small letters."""
    return posixpath.splitext(name)[1].lower()


def is_picture(name: str) -> bool:
    """Whether a file means to be a picture; its bytes will tell whether it is one."""
    return suffix(name) in PICTURES or suffix(name) in NOT_PICTURES


def open_source(source: Path, scratch: Path, most_bytes: int) -> Tree:
    """The tree of a folder, an archive (unpacked below `scratch`), a manifest or one picture."""
    if source.is_dir():
        return unwrapped(_walk(source))
    if not source.is_file():
        raise NotFound(f"There is no file or folder {source}.")
    if archives.is_archive(source):
        unpacked = archives.unpack(source, scratch, most_bytes)
        kept = shelf.Texts((name, path) for name, path in unpacked.files.pairs() if wanted(name))
        return unwrapped(Tree(str(scratch), kept, problems=tuple(unpacked.problems)))
    if suffix(source.name) in PICTURES:
        return Tree(str(source.parent), shelf.Texts([(source.name, "")]))
    if suffix(source.name) in TEXTS:
        return _around(source)
    raise Invalid(
        f"{source.name} is no source of pictures: give a folder, an archive "
        f"({', '.join(archives.SUFFIXES)}), a picture or a label file."
    )


def of_files(files: Iterable[tuple[str, str]]) -> Tree:
    """The tree of files that lie anywhere: the name of each, and its path."""
    return unwrapped(Tree("/", shelf.Texts(files)))


def unwrapped(tree: Tree) -> Tree:
    """The tree without folders that hold all the rest and so say nothing."""
    while len(tree.folders) == 1 and all("/" in name for name in tree.files):
        if picture_names.says_something(tree.folders[0]):
            break
        start = tree.folders[0] + "/"
        manifest = tree.manifest.removeprefix(start)
        tree = replace(tree._below(start), manifest=manifest, problems=tree.problems)
    return tree


def _around(manifest: Path) -> Tree:
    """The folder that a label file speaks of: its own, or the one above `annotations/`."""
    root = manifest.parent
    while root.name.lower() in ("annotations", "imagesets", "main"):
        root = root.parent
    return replace(_walk(root), manifest=manifest.relative_to(root).as_posix())


def _walk(root: Path) -> Tree:
    problems, empty = list[Problem](), list[str]()
    files = shelf.Texts(_files(root, "", problems, empty))
    return Tree(str(root), files, problems=tuple(problems), empty=tuple(sorted(empty)))


def _files(
    root: Path, inside: str, problems: list[Problem], empty: list[str]
) -> Iterator[tuple[str, str]]:
    """The wanted files below a folder, one after another, and no list of them."""
    try:
        entries = os.scandir(root / inside)
    except OSError as error:
        problems.append(Problem(inside, None, f"this folder cannot be opened: {error.strerror}."))
        return
    bare = True
    with entries:
        for entry in entries:
            name = inside + entry.name
            bare = bare and archives.is_junk(entry.name)
            if archives.printable(name) != name:
                reason = "its name is not readable text."
                problems.append(Problem(archives.printable(name), None, reason))
            elif entry.is_dir(follow_symlinks=False):
                if not archives.is_junk(entry.name):
                    yield from _files(root, name + "/", problems, empty)
            elif wanted(name) and entry.is_file():
                yield name, ""
    if bare and inside and len(empty) < MOST_NAMED:
        empty.append(inside)


def wanted(name: str) -> bool:
    """Whether a file may be a picture or hold labels."""
    return (is_picture(name) or suffix(name) in TEXTS) and not archives.is_junk(name)

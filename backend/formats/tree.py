"""The files of a source by their relative names: a folder, an archive or a manifest alike."""

from __future__ import annotations

import itertools
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from backend.errors import Invalid, NotFound
from backend.formats import archives, naming
from backend.formats.base import Finding, Problem

ENDINGS = (".jpg", ".png", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".jpe", ".jfif")
PICTURES = frozenset(ENDINGS)
NOT_PICTURES = frozenset({".svg", ".gif", ".heic", ".heif", ".avif", ".psd"})
TEXTS = frozenset({".xml", ".txt", ".json", ".yaml", ".yml", ".names", ".data", ".csv", ".tsv"})
MOST_TEXT = 64 * 1024 * 1024
MOST_LOOKED_AT = 200  # files, to recognise a format
MOST_BYTES = 1_000_000_000  # of one picture


class Index:
    """Names by a key; the many keys of one name cost no list each."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._found: dict[str, str | list[str]] = {}
        for key, name in pairs:
            there = self._found.setdefault(key, name)
            if isinstance(there, list):
                there.append(name)
            elif there is not name:
                self._found[key] = [there, name]

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def get(self, key: str) -> Sequence[str]:
        """The names under a key."""
        found = self._found.get(key, ())
        return (found,) if isinstance(found, str) else found


@dataclass(frozen=True, eq=False)
class Tree:
    """A source's files; `manifest` is the one that the person pointed at, if it was a file.

    A file lies at `root` under its name (after `prefix`), or under another that `files` gives.
    There may be millions: what is kept of each is little more than its name.
    """

    root: str
    files: Mapping[str, str]
    manifest: str = ""
    problems: tuple[Problem, ...] = ()
    prefix: str = ""

    @cached_property
    def pictures(self) -> tuple[str, ...]:
        """The names of all that means to be a picture, in order."""
        return tuple(name for name in self.files if is_picture(name))

    def path(self, name: str) -> Path:
        """Where a file lies."""
        return Path(self.root, self.files[name] or self.prefix + name)

    def picture(self, stem: str) -> str:
        """The picture of that path without its ending; '' where there is none."""
        endings = itertools.chain.from_iterable((one, one.upper()) for one in ENDINGS)
        return next((stem + ending for ending in endings if stem + ending in self.files), "")

    def label_texts(self) -> Iterator[str]:
        """Text files of a picture's stem that hold something: some, from all over the source."""
        found = [
            name
            for name in self.files
            if name.lower().endswith(".txt") and PurePosixPath(name).stem in self.by_stem
        ]
        every = max(1, len(found) // MOST_LOOKED_AT)
        filled = (name for name in found if self.path(name).stat().st_size)
        yield from itertools.islice(filled, 0, None, every)

    @cached_property
    def by_stem(self) -> Index:
        """The pictures by their names without folder and ending."""
        return Index((PurePosixPath(name).stem, name) for name in self.pictures)

    @cached_property
    def _by_base(self) -> Index:
        return Index((posixpath.basename(name), name) for name in self.files)

    def named(self, *endings: str) -> list[str]:
        """The files whose names end so, those nearest to the root first."""
        chosen = [name for name in self.files if name.lower().endswith(endings)]
        return sorted(chosen, key=lambda name: (name.count("/"), name))

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
        for index, line in enumerate(self.text(name).split("\n"), 1):
            if line.strip():
                yield index, line.strip()

    def parts(self) -> dict[str, Tree]:
        """The trees of those folders at the root that hold pictures and perhaps their labels."""
        pictured = {name.split("/")[0] for name in self.pictures if "/" in name}
        texts = {name.split("/")[0] for name in self.files if suffix(name) in TEXTS}
        found: dict[str, dict[str, str]] = {folder: {} for folder in sorted(pictured & texts)}
        for name, path in self.files.items():
            folder, _, rest = name.partition("/")
            if rest and folder in found:
                found[folder][rest] = path
        return {
            folder: replace(self, files=files, prefix=f"{self.prefix}{folder}/", problems=())
            for folder, files in found.items()
        }

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders at the root."""
        return tuple(dict.fromkeys(name.split("/")[0] for name in self.files if "/" in name))


Read = Callable[[Tree], Finding]


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
        wanted = {name: unpacked.files[name] for name in sorted(unpacked.files) if _wanted(name)}
        return unwrapped(Tree(str(scratch), wanted, problems=tuple(unpacked.problems)))
    if suffix(source.name) in PICTURES:
        return Tree(str(source.parent), {source.name: ""})
    if suffix(source.name) in TEXTS:
        return _around(source)
    raise Invalid(
        f"{source.name} is no source of pictures: give a folder, an archive "
        f"({', '.join(archives.SUFFIXES)}), a picture or a label file."
    )


def unwrapped(tree: Tree) -> Tree:
    """The tree without folders that hold all the rest and so say nothing."""
    while len(tree.folders) == 1 and all("/" in name for name in tree.files):
        if naming.says_something(tree.folders[0]):
            break
        start = tree.folders[0] + "/"
        files = {name.removeprefix(start): path for name, path in tree.files.items()}
        manifest = tree.manifest.removeprefix(start)
        tree = replace(tree, files=files, manifest=manifest, prefix=tree.prefix + start)
    return tree


def _around(manifest: Path) -> Tree:
    """The folder that a label file speaks of: its own, or the one above `annotations/`."""
    root = manifest.parent
    while root.name.lower() in ("annotations", "imagesets", "main"):
        root = root.parent
    return replace(_walk(root), manifest=manifest.relative_to(root).as_posix())


def _walk(root: Path) -> Tree:
    names: list[str] = []
    problems: list[Problem] = []
    for folder, folders, bases in os.walk(root):
        folders[:] = sorted(one for one in folders if not archives.is_junk(one))
        inside = os.path.relpath(folder, root).replace(os.sep, "/")
        for base in bases:
            name = base if inside == "." else f"{inside}/{base}"
            if archives.printable(name) != name:
                reason = "its name is not readable text."
                problems.append(Problem(archives.printable(name), None, reason))
            elif _wanted(name) and os.path.isfile(os.path.join(folder, base)):
                names.append(name)
    names.sort()
    return Tree(str(root), dict.fromkeys(names, ""), problems=tuple(problems))


def _wanted(name: str) -> bool:
    return (is_picture(name) or suffix(name) in TEXTS) and not archives.is_junk(name)

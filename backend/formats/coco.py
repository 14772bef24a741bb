"""COCO JSON: read through an index on disk, because annotations may precede their images."""

from __future__ import annotations

import codecs
import functools
import json
import mmap
import posixpath
import re
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, picture_names, writing
from backend.formats.base import (
    Classes,
    Finding,
    Found,
    Item,
    Labelled,
    OutgoingPicture,
    Problem,
    Writing,
    Written,
)
from backend.formats.signs import Sign
from backend.formats.source import json_stream, shelf
from backend.formats.source.tree import Tree, is_picture
from backend.formats.strange import layouts
from backend.formats.strange.peek import Peek

_SHAPE = re.compile(rb'"(images|annotations|categories)"\s*:\s*\[')
_IMAGES = re.compile(rb'"images"\s*:\s*\[\s*\{')
_PEEK = 256 * 1024
MOST_FILES = 500  # that are looked into; others keep a JSON file a picture
_SPLIT = re.compile(r"(?:^|[^a-z])(train|val|valid|test)(?![a-z])|(train|val|test)\d{4}")
_TABLES = """
create table image (id text primary key, line integer, entry text) without rowid;
create table note (image text, seq integer, line integer, entry text,
                   primary key (image, seq)) without rowid;
create table place (seq integer primary key, image text);
"""


def recognise(tree: Tree) -> Sign:
    """A JSON file with images; one with nothing but their words is hardly a sign."""
    files = _files(tree)
    if any(_has_images(tree, name) for name in files):
        return Sign.STRONG
    return Sign.FAINT if files else Sign.NONE


def descriptions(tree: Tree) -> list[str]:
    """All files of this kind, also those that stand back."""
    return [name for name in tree.named(".json")[:MOST_FILES] if _is_coco(tree, name)]


def read(tree: Tree) -> Finding:
    """The pictures of each file in its order, then those that no file names."""
    names = picture_names.PictureNames(tree.pictures, splits=False)
    seen = shelf.NameSet()
    for file in _files(tree):
        with tempfile.TemporaryDirectory() as scratch, _index(Path(scratch)) as index:
            yield from _read(_Source(tree, file, index, names, seen))
    if not tree.manifest:
        for picture in tree.pictures:
            if picture not in seen:
                read_bytes = functools.partial(tree.read, picture)
                yield Item(names[picture], read_bytes, file=picture)


def write(pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]) -> Writing:
    """images/ and annotations/instances_SPLIT.json; an image's id is its number in the project."""
    ids = {name: index for index, name in enumerate(classes, 1)}
    with ExitStack() as stack:
        files: dict[Split | None, _Instances] = {}
        notes = 0
        for count, picture in enumerate(pictures, 1):
            number = picture.number or count
            if picture.split not in files:
                files[picture.split] = stack.enter_context(_instances(folder, picture.split, ids))
            writing.put(folder, f"images/{picture.name}", picture.read())
            out = files[picture.split]
            out.image(number, picture)
            for box in picture.boxes:
                notes += 1
                out.note(notes, number, ids[box.label], (box.x1, box.y1, box.x2, box.y2))
            yield Written(picture.name, len(picture.boxes))


class _Instances:
    """One JSON file on its way out; annotations wait in a second file until the images end."""

    def __init__(self, images: IO[str], notes: IO[str]) -> None:
        self._images, self._notes = images, notes
        self._first_image = self._first_note = True

    def image(self, number: int, picture: OutgoingPicture) -> None:
        entry: dict[str, Any] = {
            "id": number,
            "file_name": picture.name,
            "width": picture.width,
            "height": picture.height,
        }
        if not picture.labelled:
            entry["labelled"] = False
        self._images.write(("" if self._first_image else ",\n") + json.dumps(entry))
        self._first_image = False

    def note(
        self, number: int, image: int, category: int, corners: tuple[float, float, float, float]
    ) -> None:
        x1, y1, x2, y2 = corners
        width, height = base.rounded(x2 - x1), base.rounded(y2 - y1)
        entry = {
            "id": number,
            "image_id": image,
            "category_id": category,
            "bbox": [x1, y1, width, height],
            "segmentation": [],
            "area": base.rounded(width * height),
            "iscrowd": 0,
        }
        self._notes.write(("" if self._first_note else ",\n") + json.dumps(entry))
        self._first_note = False


@contextmanager
def _instances(folder: Path, split: Split | None, ids: Mapping[str, int]) -> Iterator[_Instances]:
    path = folder / "annotations" / f"instances_{split or picture_names.UNASSIGNED}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out, tempfile.TemporaryFile("w+") as notes:
        out.write('{"info": {"description": "exported by Loupe"},\n"images": [\n')
        yield _Instances(out, notes)
        out.write('\n],\n"annotations": [\n')
        notes.seek(0)
        for line in notes:
            out.write(line)
        categories = [{"id": index, "name": name} for name, index in ids.items()]
        out.write(f'\n],\n"categories": {json.dumps(categories)}}}\n')


@dataclass(slots=True)
class _Source:
    """One JSON file, while it is read."""

    tree: Tree
    file: str
    index: sqlite3.Connection
    names: picture_names.PictureNames
    seen: shelf.NameSet
    categories: dict[str, str] = field(default_factory=dict)

    @property
    def split(self) -> Split | None:
        """The split that the file's name or its folder tells."""
        for word in (PurePosixPath(self.file).stem, posixpath.dirname(self.file)):
            found = _SPLIT.search(word.lower())
            if found:
                return base.split_of(found[1] or found[2])
        return None

    def find(self, name: str) -> str:
        """The picture that an entry names."""
        home = posixpath.dirname(self.file)
        above = posixpath.dirname(home)
        folder = PurePosixPath(self.file).stem.rpartition("_")[2]
        roots = (home, above) if home else ("",)
        return self.tree.find(
            name,
            *(posixpath.join(root, "images") for root in roots),
            *(posixpath.join(root, "images", folder) for root in roots),
            *(posixpath.join(root, folder) for root in roots),
            *roots,
        )


@contextmanager
def _index(scratch: Path) -> Iterator[sqlite3.Connection]:
    index = sqlite3.connect(scratch / "index.db", isolation_level=None)
    try:
        index.execute("pragma journal_mode=off")
        index.execute("pragma synchronous=off")
        index.executescript(_TABLES)
        index.execute("begin")
        yield index
    finally:
        index.close()


def _files(tree: Tree) -> list[str]:
    """The JSON files with instances; captions and keypoints of the same pictures stand back."""
    if tree.manifest:
        return [tree.manifest] if _is_coco(tree, tree.manifest) else []
    found = descriptions(tree)
    instances = [name for name in found if posixpath.basename(name).startswith("instances")]
    return instances or found


def _is_coco(tree: Tree, name: str) -> bool:
    if not name.lower().endswith(".json"):
        return False
    with tree.path(name).open("rb") as source:
        start = source.read(_PEEK)
    is_object = start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
    if not is_object or not _SHAPE.search(start):
        return False
    return layouts.layout(Peek(tree, name), ".json") is None


def _has_images(tree: Tree, name: str) -> bool:
    """Whether a file names an image; the images may follow a gigabyte of annotations."""
    with (
        tree.path(name).open("rb") as source,
        mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return bool(_IMAGES.search(content))


def _read(source: _Source) -> Iterator[Found]:
    try:
        yield from _fill(source)
    except Invalid as error:
        yield Problem(source.file, None, f"the rest of it cannot be read: {error}")
    yield Classes(tuple(source.categories.values()))
    placed = source.index.execute("select image from place order by seq")
    for (key,) in placed:
        yield from _image(source, key)
    lost = source.index.execute(
        "select line, image from note where image not in (select id from image)"
    )
    for line, image in lost:
        yield Problem(source.file, line, f"its image_id {image} names no image.")


def _fill(source: _Source) -> Iterator[Problem]:
    path = source.tree.path(source.file)
    count = 0
    for key, value, line in json_stream.elements(path, source.file):
        if key not in ("images", "annotations", "categories"):
            continue
        if not isinstance(value, dict):
            yield Problem(source.file, line, f"an entry of {key!r} is not an object.")
        elif key == "categories":
            source.categories[_key(value.get("id"))] = str(value.get("name") or "").strip()
        elif key == "images":
            count += 1
            yield from _add_image(source, value, line, count)
        else:
            count += 1
            kept = {name: value.get(name) for name in ("bbox", "category_id", "id")}
            row = (_key(value.get("image_id")), count, line, json.dumps(kept))
            source.index.execute("insert into note values (?, ?, ?, ?)", row)


def _add_image(source: _Source, entry: dict[str, Any], line: int, count: int) -> Iterator[Problem]:
    if not isinstance(entry.get("file_name"), str) or "id" not in entry:
        yield Problem(source.file, line, "an image has no id or no file_name.")
        return
    key = _key(entry["id"])
    kept = {name: entry.get(name) for name in ("file_name", "width", "height", "labelled")}
    row = (key, line, json.dumps(kept))
    if source.index.execute("insert or ignore into image values (?, ?, ?)", row).rowcount:
        source.index.execute("insert into place values (?, ?)", (count, key))
    else:
        yield Problem(source.file, line, f"the id {key} is used by two images.")


def _key(value: Any) -> str:
    return json.dumps(value)[:200]


def _image(source: _Source, key: str) -> Iterator[Item | Problem]:
    query = "select line, entry from image where id = ?"
    line, text = source.index.execute(query, (key,)).fetchone()
    entry = json.loads(text)
    picture = source.find(entry["file_name"])
    if not is_picture(picture):
        reason = f"its picture {entry['file_name'][:200]!r} is not in the source."
        yield Problem(source.file, line, reason)
        return
    if picture in source.seen:
        yield Problem(source.file, line, f"the picture {picture!r} is described twice.")
        return
    source.seen.add(picture)
    boxes: list[Labelled] = []
    notes = source.index.execute(
        "select line, entry from note where image = ? order by seq", (key,)
    ).fetchall()
    for at, note in notes:
        try:
            boxes.append(_box(source, json.loads(note), at))
        except Invalid as error:
            yield Problem(source.file, at, str(error))
    yield Item(
        source.names[picture],
        functools.partial(source.tree.read, picture),
        tuple(boxes),
        entry["labelled"] is not False,
        split=source.split,
        file=picture,
        label_file=source.file,
        size=(_pixels(entry["width"]), _pixels(entry["height"])),
    )


def _pixels(value: Any) -> int:
    return value if isinstance(value, int) and 0 < value < 1_000_000 else 0


def _box(source: _Source, note: dict[str, Any], line: int) -> Labelled:
    which = f"annotation {_key(note['id'])}"
    corners = note["bbox"]
    if not isinstance(corners, list) or len(corners) != 4:
        raise Invalid(f"{which} has no bbox of four numbers.")
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in corners):
        raise Invalid(f"{which} has a bbox that is not of numbers.")
    label = source.categories.get(_key(note["category_id"]))
    if not label:
        raise Invalid(f"{which} has the unknown category_id {_key(note['category_id'])}.")
    try:
        x, y, width, height = map(float, corners)
    except OverflowError as error:
        raise Invalid(f"{which} has a bbox of numbers beyond all bounds.") from error
    ends = base.rounded(x + width), base.rounded(y + height)
    return Labelled(base.rounded(x), base.rounded(y), *ends, label, line)

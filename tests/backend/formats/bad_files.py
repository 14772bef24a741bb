"""Broken, hostile and odd files, each with what must be said of it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from tests.backend.labels import drawn

Files = dict[str, bytes | str]
GOOD = drawn.picture(shade=200)
JPEG = drawn.picture(640, 480, shade=90)
PNG = drawn.picture(640, 480, shade=90, kind="PNG")


@dataclass(frozen=True)
class Bad:
    """A source with something wrong in it; `images` and `boxes` are what is left to import."""

    name: str
    files: Files | Callable[[Path], Path]
    says: str
    images: int = 1
    boxes: int = 0
    refused: bool = False
    project: str = field(default="line 3")


def _chunk(kind: bytes, content: bytes) -> bytes:
    crc = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + crc


def _png(width: int, height: int, *chunks: bytes) -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + _chunk(b"IEND", b"")


_ROWS = bytes(20_001 * 200)


def bomb() -> bytes:
    """20,000 × 20,000 grey pixels in some 400 kB."""
    squeeze = zlib.compressobj(1)
    rows = b"".join(squeeze.compress(_ROWS) for _ in range(100)) + squeeze.flush()
    return _png(20_000, 20_000, _chunk(b"IDAT", rows))


def _text_bomb() -> bytes:
    text = _chunk(b"zTXt", b"note\0\0" + zlib.compress(bytes(80_000_000), 9))
    return _png(8, 8, text, _chunk(b"IDAT", zlib.compress(bytes(9 * 8))))


def _saved(kind: str, mode: str = "L") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (64, 48)).save(out, kind)
    return out.getvalue()


def _damaged(content: bytes, at: int, by: bytes) -> bytes:
    return content[:at] + by + content[at + len(by) :]


def _picture(name: str, content: bytes | str, says: str) -> Bad:
    """A bad picture beside a good one."""
    return Bad(name, {"good.jpg": GOOD, name: content}, says)


def _late(name: str, make: Callable[[], bytes]) -> Callable[[Path], Path]:
    """A picture that takes long to make, made when its turn comes."""
    return lambda folder: drawn.lay(folder, {"good.jpg": GOOD, name: make()})


PICTURES = (
    _picture("truncated.jpg", JPEG[: len(JPEG) // 2], "truncated.jpg: it is broken: .*truncated"),
    _picture("no end.jpg", JPEG[:-2][:-200], "no end.jpg: it is broken"),
    _picture("only start.jpg", JPEG[:2], "only start.jpg: it is"),
    _picture("truncated.png", PNG[: len(PNG) // 2], "truncated.png: it is broken"),
    _picture("flipped.png", _damaged(PNG, 60, b"\xff\xff\xff\xff"), "flipped.png: it is broken"),
    _picture("truncated.webp", _saved("WEBP")[:-9], "truncated.webp: it is"),
    _picture("truncated.tif", _saved("TIFF")[:200], "truncated.tif: it is"),
    _picture("nowhere.tif", b"II*\0\xff\xff\xff\x7f" + bytes(40), "nowhere.tif: it is"),
    _picture("short.bmp", _saved("BMP")[:100], "short.bmp: it is broken"),
    _picture("wide.bmp", _damaged(_saved("BMP"), 18, b"\xff\xff\xff\x7f"), "wide.bmp: it is|has"),
    _picture("floats.tif", _saved("TIFF", "F"), "floats.tif: it has floating-point pixels"),
    _picture("empty.jpg", b"", "empty.jpg: it is empty"),
    Bad("bomb.png", _late("bomb.png", bomb), "bomb.png: it (has 20000 × 20000|is larger)"),
    _picture(
        "liar.png", _png(60_000, 60_000, _chunk(b"IDAT", b"")), "liar.png: it (has 6|is larger)"
    ),
    Bad("text bomb.png", _late("text bomb.png", _text_bomb), "text bomb.png: it is broken"),
    _picture(
        "drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "drawing.svg: it is not a"
    ),
    _picture("drawing.png", "<svg onload='alert(1)'/>", "drawing.png: it is not a picture"),
    _picture("page.jpg", "<html><script>alert(1)</script>", "page.jpg: it is not a picture"),
    _picture("moving.gif", _saved("GIF"), "moving.gif: it is not a picture that Loupe reads"),
    _picture("gif.png", _saved("GIF"), "gif.png: it is not a picture that Loupe reads"),
    _picture("icon.jpg", _saved("ICO"), "icon.jpg: it is not a picture"),
    _picture("notes.jpg", "dear diary", "notes.jpg: it is not a picture"),
    _picture("weights.jpg", b"\x80\x04\x95\x10\0\0\0\0\0\0\0", "weights.jpg: it is not a picture"),
)

XML = "<annotation><filename>a.jpg</filename>\n{}</annotation>"
OBJECT = (
    "<object><name>{}</name>\n<bndbox><xmin>{}</xmin><ymin>{}</ymin>"
    "<xmax>{}</xmax><ymax>{}</ymax></bndbox></object>\n"
)
FINE = OBJECT.format("dent", 1, 2, 30, 40)
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY b "haha"><!ENTITY c "&b;&b;&b;&b;">]>'
    "<annotation><filename>&c;</filename></annotation>"
)
OUTSIDE = (
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
    "<annotation><object><name>&b;</name></object></annotation>"
)


def _voc(name: str, xml: str | bytes, says: str, boxes: int = 0) -> Bad:
    files: Files = {"JPEGImages/a.jpg": GOOD, "Annotations/a.xml": xml}
    files["Annotations/b.xml"] = XML.replace("a.jpg", "b.jpg").format("")
    files["JPEGImages/b.jpg"] = drawn.picture(shade=3)
    return Bad(f"voc: {name}", files, says, images=2, boxes=boxes)


def _voc_box(name: str, box: str, says: str) -> Bad:
    """A bad box on line 4, after a good one."""
    return _voc(name, XML.format(FINE + box), rf"Annotations/a.xml, line 4: .*{says}", boxes=1)


VOC = (
    _voc("entities", LAUGHS, "a.xml: it declares an XML entity"),
    _voc("entity of a file", OUTSIDE, "a.xml: it declares an XML entity"),
    _voc("cut off", XML.format(FINE)[:90], "a.xml: it is not XML"),
    _voc("of another kind", "<svg/>", "a.xml: it is not a Pascal VOC annotation"),
    _voc("not UTF-8", b"<annotation><name>\xff\xfe</name></annotation>", "a.xml: it is not XML"),
    _voc("empty", "", "a.xml: it is not XML"),
    _voc_box("NaN", OBJECT.format("dent", "nan", 2, 3, 4), "has a corner that is not a number"),
    _voc_box("infinite", OBJECT.format("dent", 1, 2, "inf", 4), "has a corner that is not a num"),
    _voc_box("inverted", OBJECT.format("dent", 30, 2, 3, 40), "has no area"),
    _voc_box("of zero area", OBJECT.format("dent", 3, 4, 3, 9), "has no area"),
    _voc_box("outside", OBJECT.format("dent", 900, 2, 999, 40), "lies outside of the picture"),
    _voc_box("negative", OBJECT.format("dent", -50, -60, -3, -4), "lies outside of the picture"),
    _voc_box("of words", OBJECT.format("dent", "one", 2, 3, 4), "'one' is no number"),
    _voc_box("without corners", "<object><name>dent</name></object>", "the box has no xmin"),
    _voc_box("of no class", OBJECT.format("", 1, 2, 3, 4), "names no class"),
    _voc_box("of the background", OBJECT.format("background", 1, 2, 3, 4), "is the background"),
    _voc_box("of a long name", OBJECT.format("x" * 300, 1, 2, 3, 4), "cannot be the name of a c"),
    Bad(
        "voc: sticking out",
        {"a.jpg": GOOD, "a.xml": XML.format(OBJECT.format("dent", -9, 2, 64, 48))},
        "a.xml, line 2: the box sticks out of the picture by 9 pixels and was cut",
        boxes=1,
    ),
    Bad(
        "voc: labels of a larger picture",
        {
            "a.jpg": GOOD,
            "a.xml": XML.format("<size><width>640</width><height>480</height></size>" + FINE),
        },
        "boxes belong to a picture of 640 × 480, but a.jpg has 64 × 48",
    ),
    Bad(
        "voc: two annotations of one picture",
        {"JPEGImages/a.jpg": GOOD, "x/a.xml": XML.format(FINE), "y/a.xml": XML.format(FINE)},
        "y/a.xml: its picture 'a.jpg' is not in the source, or is taken",
        boxes=1,
    ),
    Bad(
        "voc: missing picture",
        {"a.jpg": GOOD, "b.xml": XML.replace("a.jpg", "b.jpg").format(FINE)},
        "b.xml: its picture 'b.jpg' is not in the source",
    ),
)


def _yolo(name: str, labels: str | bytes, says: str, boxes: int = 0) -> Bad:
    files: Files = {
        "data.yaml": "train: images\nval: images\nnames: [dent, spur]\n",
        "images/a.jpg": GOOD,
        "labels/a.txt": labels,
    }
    return Bad(f"yolo: {name}", files, says, boxes=boxes)


def _yolo_line(name: str, line: str, says: str) -> Bad:
    labels = f"0 0.5 0.5 0.2 0.2\n{line}\n"
    return _yolo(name, labels, f"labels/a.txt, line 2: .*{says}", boxes=1)


YOLO = (
    _yolo_line("unknown class", "7 .5 .5 .2 .2", "there is no class 7"),
    _yolo_line("negative class", "-1 .5 .5 .2 .2", "there is no class -1"),
    _yolo_line("half a class", "1.5 .5 .5 .2 .2", "'1.5' is no class number"),
    _yolo_line("endless class", "inf .5 .5 .2 .2", "'inf' is no class number"),
    _yolo_line("pixels", "1 320 240 50 60", "not fractions of the picture"),
    _yolo_line("too few numbers", "1 .5 .5", "is not `class cx cy w h`"),
    _yolo_line("no numbers", "hello world", "'hello' is no number"),
    _yolo_line("NaN", "1 nan .5 .2 .2", "has a corner that is not a number"),
    _yolo_line("no width", "1 .5 .5 0 .2", "has no area"),
    _yolo_line("negative height", "1 .5 .5 .2 -.2", "has no area"),
    _yolo("too many", "0 .5 .5 .2 .2\n" * 10_001, "labels/a.txt: it has 10,001 boxes"),
    _yolo("not UTF-8", b"0 0.5 0.5 0.2 0.2 \xe9\n", "labels/a.txt: it is not UTF-8 text"),
    _yolo("UTF-16", "0 .5 .5 .2 .2".encode("utf-16"), "labels/a.txt: it is not UTF-8 text"),
    Bad(
        "yolo: broken yaml",
        {"data.yaml": "names: [a, b", "images/a.jpg": GOOD, "labels/a.txt": "0 .5 .5 .2 .2"},
        "data.yaml: it is not YAML",
        boxes=1,
    ),
    Bad(
        "yolo: yaml that runs code",
        {
            "data.yaml": "names: !!python/object/apply:os.system ['touch pwned']",
            "images/a.jpg": GOOD,
            "labels/a.txt": "0 .5 .5 .2 .2",
        },
        "data.yaml: it is not YAML",
        boxes=1,
    ),
    Bad(
        "yolo: list with strangers",
        {
            "data.yaml": "train: train.txt\nval: train.txt\nnames: [dent]\n",
            "train.txt": "images/a.jpg\n/etc/passwd\n../../secret.jpg\n",
            "images/a.jpg": GOOD,
        },
        "train.txt, line 2: the picture '/etc/passwd' is not in the source",
    ),
    Bad(
        "yolo: labels of a broken picture",
        {
            "data.yaml": "names: [dent]\n",
            "images/a.jpg": GOOD,
            "images/b.jpg": b"oh",
            "labels/b.txt": "0 .5 .5 .2 .2",
        },
        "b.jpg: it is not a picture",
    ),
)

IMAGES = '"images": [{"id": 1, "file_name": "a.jpg", "width": 64, "height": 48}]'
KINDS = '"categories": [{"id": 1, "name": "dent"}, {"id": 0, "name": "background"}]'


def _coco(name: str, text: str, says: str, boxes: int = 0) -> Bad:
    return Bad(f"coco: {name}", {"images/a.jpg": GOOD, "all.json": text}, says, boxes=boxes)


def _coco_note(name: str, note: str, says: str) -> Bad:
    fine = '{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}'
    text = f'{{{IMAGES},\n{KINDS}, "annotations": [\n{fine},\n{note}]}}'
    return _coco(name, text, f"all.json, line 4: .*{says}", boxes=1)


def _note(bbox: str, image: str = "1", category: str = "1") -> str:
    return f'{{"id": 2, "image_id": {image}, "category_id": {category}, "bbox": {bbox}}}'


COCO = (
    _coco_note("NaN", _note("[NaN, 2, 3, 4]"), "has a corner that is not a number"),
    _coco_note("infinite", _note("[1, 2, Infinity, 4]"), "has a corner that is not a number"),
    _coco_note("three numbers", _note("[1, 2, 3]"), "has no bbox of four numbers"),
    _coco_note("no bbox", _note("null"), "has no bbox of four numbers"),
    _coco_note("words", _note('[1, 2, 3, "x"]'), "not of numbers"),
    _coco_note("huge number", _note(f"[1, 2, 3, 1{'0' * 400}]"), "beyond all bounds"),
    _coco_note("unknown class", _note("[1, 2, 3, 4]", "1", "99"), "unknown category_id 99"),
    _coco_note("background", _note("[1, 2, 3, 4]", "1", "0"), "is the background"),
    _coco_note("unknown image", _note("[1, 2, 3, 4]", "5"), "image_id 5 names no image"),
    _coco_note("no object", "17", "is not an object"),
    _coco_note("zero area", _note("[1, 2, 0, 4]"), "has no area"),
    _coco("cut off", f'{{{IMAGES}, {KINDS}, "annotations": [{{"id"', "the rest of it cannot be"),
    _coco("too deep", f'{{{IMAGES}, "annotations": {"[" * 100_000}', "the rest of it cannot be"),
    _coco(
        "missing picture",
        f'{{{IMAGES.replace("a.jpg", "z.jpg")}, "annotations": [], {KINDS}}}',
        "all.json, line 1: its picture 'z.jpg' is not in the source",
    ),
    _coco(
        "picture outside",
        f'{{{IMAGES.replace("a.jpg", "../../etc/passwd")}, "annotations": [], {KINDS}}}',
        "its picture '../../etc/passwd' is not in the source",
    ),
    _coco(
        "one id twice",
        f'{{"images": [{IMAGES[11:-1]},\n{IMAGES[11:-1]}], "annotations": [], {KINDS}}}',
        "all.json, line 2: the id 1 is used by two images",
    ),
)


def _pcb(name: str, line: str, says: str) -> Bad:
    files: Files = {
        "test.txt": "g/1/7.jpg g/1_not/7.txt",
        "g/1/7_test.jpg": GOOD,
        "g/1/7_temp.jpg": drawn.picture(shade=4),
        "g/1_not/7.txt": f"1 2 30 40 1\n{line}\n",
    }
    return Bad(f"deeppcb: {name}", files, f"g/1_not/7.txt, line 2: .*{says}", boxes=1)


DEEPPCB = (
    _pcb("background", "1 2 3 4 0", "type 0 is the background"),
    _pcb("unknown type", "1 2 3 4 9", "there is no defect type 9"),
    _pcb("four numbers", "1,2,3,4", "is not `x1 y1 x2 y2 type`"),
    _pcb("words", "1 2 3 four 1", "'four' is no number"),
    Bad(
        "deeppcb: missing template",
        {"test.txt": "g/7.jpg g_not/7.txt", "g/7_test.jpg": GOOD, "g_not/7.txt": "1 2 3 4 1"},
        r"g/7_test.jpg: its template \(…_temp\) is missing",
        boxes=1,
    ),
    Bad(
        "deeppcb: missing picture and labels",
        {
            "test.txt": "g/7.jpg g_not/7.txt\ng/8.jpg g_not/8.txt",
            "g/7_test.jpg": GOOD,
            "g/7_temp.jpg": drawn.picture(shade=4),
        },
        "test.txt, line 2: the picture 'g/8.jpg'",
    ),
)


def _goldens(name: str, rows: str | bytes, says: str) -> Bad:
    files: Files = {"a.jpg": GOOD, "goldens/clean.jpg": drawn.picture(shade=4), "goldens.csv": rows}
    return Bad(f"goldens: {name}", files, says)


GOLDENS = (
    _goldens(
        "unknown", "picture,golden,group\na.jpg,dirty.jpg,\n", "goldens.csv, line 2: the golden"
    ),
    _goldens(
        "two columns", "picture,golden,group\na.jpg,clean.jpg\n", "goldens.csv, line 2: it is"
    ),
    _goldens("long group", f"picture,golden,group\na.jpg,,{'x' * 301}\n", "csv, line 2: its group"),
    _goldens("not UTF-8", b"picture,golden,group\n\xff,,\n", "goldens.csv: it cannot be read"),
)

ALL = (*PICTURES, *VOC, *YOLO, *COCO, *DEEPPCB, *GOLDENS)

"""Label layouts that are known and not read here: the sign of each, and what to do about it.

An import names what it has not read, so that no label is lost without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backend.formats.strange import table_signs as tables
from backend.formats.strange import text_signs as texts
from backend.formats.strange.peek import Peek, says

CONVERT = "turn it into COCO, YOLO or Pascal VOC with the program that wrote it"
DATUMARO = "turn it into COCO with datumaro (datum convert … -f coco)"


@dataclass(frozen=True, slots=True)
class Layout:
    """One row of LAYOUTS: a file of one of these endings that shows the sign is in this layout.

    `read_by` names the format that reads the files all the same, and so loses something.
    """

    name: str
    endings: tuple[str, ...]
    sign: Callable[[Peek], bool]
    advice: str = CONVERT
    read_by: str = ""


JSON, XML, TXT, CSV = (".json",), (".xml",), (".txt",), (".csv", ".tsv", ".txt")
LINES = (".jsonl", ".ndjson", ".manifest")  # a JSON document a line

LAYOUTS = (
    Layout("CVAT XML", XML, texts.cvat, "export the task from CVAT as COCO 1.0"),
    Layout("dlib's XML", XML, texts.dlib),
    Layout("Datumaro JSON", JSON, says("{", '"dm_format_version"'), DATUMARO),
    Layout(
        "LabelMe JSON",
        JSON,
        says("{", '"shapes"', '"imagePath"'),
        "turn it into COCO or Pascal VOC (labelme2voc)",
    ),
    Layout(
        "Label Studio JSON",
        JSON,
        texts.label_studio,
        "export the project from Label Studio as COCO or YOLO",
    ),
    Layout("CreateML JSON", JSON, says("[", '"annotations"', '"coordinates"')),
    Layout("VGG Image Annotator's JSON", JSON, says("{", '"shape_attributes"', '"regions"')),
    Layout("VoTT JSON", JSON, says("{", '"asset"', '"regions"', '"boundingBox"')),
    Layout("Supervisely JSON", JSON, says("{", '"objects"', '"classTitle"')),
    Layout("BDD100K or Scalabel JSON", JSON, says("", '"labels"', '"box2d"')),
    Layout("Labelbox JSON", JSON + LINES, says("", '"data_row"', '"projects"')),
    Layout("Darwin JSON of V7", JSON, says("{", '"annotations"', '"bounding_box"', '"slots"')),
    Layout("Cityscapes JSON", JSON, says("{", '"imgHeight"', '"objects"', '"polygon"')),
    Layout(
        "COCO results",
        JSON,
        says("[", '"image_id"', '"category_id"', '"score"'),
        "they are what a program found: measure them with loupe judge",
    ),
    Layout("a manifest of SageMaker", JSON + LINES, says("{", '"source-ref"', '-metadata"')),
    Layout("metadata of an imagefolder", LINES, says("{", '"file_name"', '"objects"'), DATUMARO),
    Layout("OpenImages CSV", CSV, tables.open_images, DATUMARO),
    Layout("VoTT CSV", CSV, tables.vott, "export from VoTT as Pascal VOC"),
    Layout("TensorFlow CSV", CSV, tables.corners),
    Layout("Kaggle CSV with boxes", CSV, tables.kaggle_boxes),
    Layout("Kaggle CSV with masks", CSV, tables.kaggle_masks),
    Layout("RetinaNet CSV", CSV, tables.retinanet),
    Layout("CSV with boxes", CSV, tables.boxes),
    Layout(
        "CSV with classes",
        CSV,
        tables.classes,
        "put each picture into a folder called like its class",
    ),
    Layout("KITTI", TXT, texts.kitti, DATUMARO),
    Layout("DOTA", TXT, texts.dota),
    Layout("ICDAR", TXT, texts.icdar, DATUMARO),
    Layout("MOT or VisDrone", TXT, texts.mot),
    Layout("a list of pictures with boxes", TXT, texts.listed),
    Layout(
        "YOLO-OBB",
        TXT,
        texts.turned,
        "its boxes are turned, and each came in as the upright box around it",
        "yolo",
    ),
)


def layout(peek: Peek, ending: str, read_by: str = "") -> Layout | None:
    """The layout that a file is in, if it is a known one."""
    for row in LAYOUTS:
        if ending in row.endings and row.read_by == read_by and row.sign(peek):
            return row
    return None

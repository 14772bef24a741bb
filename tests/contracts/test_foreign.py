"""Every layout that is known and not read: its pictures come in, and its name is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from backend.formats import format_table
from backend.formats.strange import layouts
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.formats.test_layouts import LAYOUTS as READ
from tests.backend.formats.test_layouts import Layout
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

A, B = drawn.picture(shade=1, kind="PNG"), drawn.picture(shade=2, kind="PNG")
Laid = dict[str, bytes | str]
PAIR: Laid = {"images/a.png": A, "images/b.png": B}
FOUR = "16,12,48,12,48,36,16,36"
TURNED = "1 .25 .45 .45 .25 .65 .45 .45 .65\n"


def _json(name: str, content: object) -> Laid:
    return {name: json.dumps(content)}


# A tiny source of each layout, as its own program writes it.
SOURCES: dict[str, Laid] = {
    "CVAT XML": {
        "annotations.xml": '<?xml version="1.0"?>\n<annotations><version>1.1</version><meta></meta>'
        '<image id="0" name="a.png" width="64" height="48"><box label="spur" xtl="16" ytl="12" '
        'xbr="48" ybr="36"/></image></annotations>'
    },
    "dlib's XML": {
        "faces.xml": "<?xml version='1.0'?><dataset><name>x</name><images><image file='a.png'>"
        "<box top='12' left='16' width='32' height='24'/></image></images></dataset>"
    },
    "Datumaro JSON": _json(
        "annotations/default.json",
        {
            "dm_format_version": "1.0",
            "media_type": 2,
            "infos": {},
            "categories": {"label": {"labels": [{"name": "spur"}]}},
            "items": [
                {
                    "id": "a",
                    "annotations": [{"type": "bbox", "label_id": 0, "bbox": [16, 12, 32, 24]}],
                    "image": {"path": "a.png"},
                }
            ],
        },
    ),
    "LabelMe JSON": _json(
        "images/a.json",
        {
            "version": "5.4",
            "shapes": [{"label": "spur", "points": [[16, 12], [48, 36]]}],
            "imagePath": "a.png",
            "imageHeight": 48,
        },
    ),
    "Label Studio JSON": _json(
        "project-1.json",
        [
            {
                "id": 1,
                "data": {"image": "/data/upload/1/a.png"},
                "annotations": [
                    {
                        "result": [
                            {
                                "from_name": "label",
                                "type": "rectanglelabels",
                                "value": {"x": 25, "y": 25, "rectanglelabels": ["spur"]},
                            }
                        ]
                    }
                ],
            }
        ],
    ),
    "CreateML JSON": _json(
        "_annotations.createml.json",
        [
            {
                "image": "a.png",
                "annotations": [
                    {"label": "spur", "coordinates": {"x": 32, "y": 24, "width": 32, "height": 24}}
                ],
            }
        ],
    ),
    "VGG Image Annotator's JSON": _json(
        "via_region_data.json",
        {
            "a.png123": {
                "filename": "a.png",
                "regions": [{"shape_attributes": {"name": "rect"}, "region_attributes": {}}],
            }
        },
    ),
    "VoTT JSON": _json(
        "1f-asset.json",
        {
            "asset": {"name": "a.png"},
            "regions": [{"tags": ["spur"], "boundingBox": {"left": 16, "top": 12}}],
        },
    ),
    "Supervisely JSON": _json(
        "ann/a.png.json",
        {"description": "", "objects": [{"classTitle": "spur", "points": {"exterior": []}}]},
    ),
    "BDD100K or Scalabel JSON": _json(
        "bdd.json",
        [{"name": "a.png", "labels": [{"category": "car", "box2d": {"x1": 16}}]}],
    ),
    "Labelbox JSON": _json("export.json", [{"data_row": {"id": "1"}, "projects": {}}]),
    "Darwin JSON of V7": _json(
        "a.json",
        {
            "version": "2.0",
            "item": {"name": "a.png", "slots": []},
            "annotations": [{"bounding_box": {"x": 16}, "name": "spur"}],
        },
    ),
    "Cityscapes JSON": _json(
        "a_gtFine_polygons.json",
        {"imgHeight": 48, "imgWidth": 64, "objects": [{"label": "car", "polygon": [[1, 1]]}]},
    ),
    "COCO results": _json(
        "results.json",
        [{"image_id": 1, "category_id": 1, "bbox": [16, 12, 32, 24], "score": 0.9}],
    ),
    "a manifest of SageMaker": {
        "output.manifest": '{"source-ref": "s3://x/a.png", "bb": {"annotations": []}, '
        '"bb-metadata": {}}\n'
    },
    "metadata of an imagefolder": {
        "images/metadata.jsonl": '{"file_name": "a.png", "objects": {"bbox": [[1, 2, 3, 4]]}}\n'
    },
    "OpenImages CSV": {
        "train-annotations-bbox.csv": "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\n"
        "a,xclick,/m/01g317,1,.25,.75,.25,.75\n"
    },
    "VoTT CSV": {
        "spur-export.csv": '"image","xmin","ymin","xmax","ymax","label"\n'
        '"a.png",16,12,48,36,"spur"\n'
    },
    "TensorFlow CSV": {
        "_annotations.csv": "filename,width,height,class,xmin,ymin,xmax,ymax\n"
        "a.png,64,48,spur,16,12,48,36\n"
    },
    "Kaggle CSV with boxes": {
        "train.csv": "image_id,width,height,bbox,source\n"
        'a,64,48,"[16.0, 12.0, 32.0, 24.0]",usask_1\n'
    },
    "Kaggle CSV with masks": {
        "train.csv": "ImageId,ClassId,EncodedPixels\na.png,3,29102 12 29346 24\n"
    },
    "RetinaNet CSV": {"annotations.csv": "images/a.png,16,12,48,36,spur\nimages/b.png,,,,,\n"},
    "CSV with boxes": {"boxes.csv": "image;x;y;width;height\na.png;16;12;32;24\n"},
    "CSV with classes": {"labels.csv": "id,breed\na.png,pug\nb.png,poodle\n"},
    "KITTI": {
        "label_2/a.txt": "Car 0.00 0 1.85 16.0 12.0 48.0 36.0 1.67 1.87 3.7 -16.5 2.3 58.4 1.5\n"
        "DontCare -1 -1 -10 1 2 3 4 -1 -1 -1 -1000 -1000 -1000 -10\n"
    },
    "DOTA": {
        "labelTxt/a.txt": "imagesource:GoogleEarth\ngsd:0.14\n"
        f"{FOUR.replace(',', '.0 ')}.0 spur 0\n"
    },
    "ICDAR": {"gt_a.txt": f"{FOUR},Genaxis Theatre\n{FOUR},###\n"},
    "MOT or VisDrone": {"annotations/a.txt": "16,12,32,24,1,4,0,0\n16,12,32,24,0,1,0,0,\n"},
    "a list of pictures with boxes": {"train.txt": "images/a.png 16,12,48,36,0 1,2,3,4,1\n"},
    "YOLO-OBB": {
        "labels/a.txt": TURNED + "0 .25 .25 .75 .25 .75 .75 .25 .75\n",
        "labels/b.txt": TURNED,
        "data.yaml": "train: images\nval: images\nnames: [dent, spur]\n",
    },
}
# What lies about in folders of pictures and holds no labels.
QUIET: dict[str, Laid] = {
    "words": {
        "README.txt": "Boards of line 3, taken 2024-05-01.\n",
        "LICENSE.txt": "Free, 1 2 3.\n",
    },
    "names of classes": {"classes.txt": "dent\nspur\n"},
    "measurements": {"data.csv": "time,temperature\n2024-05-01,21.5\n2024-05-02,21.7\n"},
    "a list of lots": {"boards.csv": "board,lot,operator\na,7,ana\nb,7,bo\n"},
    "sizes of the pictures": {"files.csv": "filename,bytes,width,height\na.png,120,64,48\n"},
    "groups of our own": {"goldens.csv": "picture,golden,group\na.png,,lot 7\n"},
    "small pictures of them": {"thumbs/a.png": drawn.picture(8, 6, shade=1, kind="PNG")},
    "captions": {"images/a.txt": "A board with 2 spurs and 1 open, 3 mm apart, in light of 4 W.\n"},
    "lists": {"train.txt": "images/a.png\n", "val.txt": "images/b.png\n"},
    "what to install": {"requirements.txt": "numpy==2.0\ntorch==2.1\n"},
    "another program's settings": {"pom.xml": "<project><version>1</version></project>"},
}


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _told(house: House, folder: Path, laid: Laid) -> list[str]:
    result = house.bring(drawn.lay(folder, PAIR | laid))
    assert {A, B} <= {house.files.read(one.sha256) for one in house.images().values()}
    return [str(problem) for problem in result.problems]


@pytest.mark.parametrize("row", layouts.LAYOUTS, ids=lambda row: row.name)
def test_labels_of_a_known_layout_are_never_lost_without_a_word(
    house: House, tmp_path: Path, row: layouts.Layout
) -> None:
    (told,) = _told(house, tmp_path / "in", SOURCES[row.name])
    files = [name for name in SOURCES[row.name] if not name.endswith(".yaml")]
    assert told.startswith(f"{sorted(files)[0]}: ")
    assert f"it is {row.name}" in told
    assert row.advice in told
    if not row.read_by:
        assert "The pictures that came in stay" in told
        assert sum(len(boxes) for boxes in house.boxes().values()) == 0


@pytest.mark.parametrize("row", layouts.LAYOUTS, ids=lambda row: row.name)
def test_no_layout_is_taken_for_a_format_that_is_read(tmp_path: Path, row: layouts.Layout) -> None:
    source = drawn.lay(tmp_path / "in", PAIR | SOURCES[row.name])
    (part,) = format_table.parts(drawn.opened(source))
    assert part.format.name == (row.read_by or "folders")


@pytest.mark.parametrize("laid", QUIET.values(), ids=QUIET)
def test_what_holds_no_labels_raises_no_alarm(house: House, tmp_path: Path, laid: Laid) -> None:
    assert _told(house, tmp_path / "in", laid) == []


@pytest.mark.parametrize("layout", READ, ids=lambda layout: layout.name)
def test_what_is_read_is_not_taken_for_a_foreign_layout(tmp_path: Path, layout: Layout) -> None:
    from backend.formats.strange import unread

    tree = drawn.opened(drawn.lay(tmp_path / "in", layout.files | layout.more) / layout.point_at)
    assert [str(one) for one in unread.find(tree, format_table.parts(tree))] == []


@pytest.mark.parametrize("table", ["image,MEL,NV\na,1.0,0.0\nb,0.0,1.0\n", "id;breed\na;pug\n"])
def test_classes_in_a_table_of_any_kind_are_said(house: House, tmp_path: Path, table: str) -> None:
    (told,) = _told(house, tmp_path / "in", {"train.csv": table})
    assert "it is CSV with classes" in told


def test_a_file_that_is_pointed_at_or_packed_is_said_too(house: House, tmp_path: Path) -> None:
    laid = PAIR | SOURCES["CVAT XML"]
    drawn.lay(tmp_path / "in", {name.rpartition("/")[2]: content for name, content in laid.items()})
    shutil.make_archive(str(tmp_path / "set"), "zip", tmp_path / "in")
    for source in (tmp_path / "in" / "annotations.xml", tmp_path / "set.zip"):
        (told,) = map(str, house.bring(source, project=source.suffix).problems)
        assert told.startswith("annotations.xml: no label was taken from it: it is CVAT XML")


def test_labels_of_an_unknown_layout_beside_pictures_are_named(
    house: House, tmp_path: Path
) -> None:
    strange: Laid = {
        "images/a.txt": "spur@16 12 48 36\n",
        "boxes.xml": "<all><box left='1'/></all>",
    }
    assert _told(house, tmp_path / "in", strange) == [
        "boxes.xml: no label was taken from it: its layout is not known here.",
        "images/a.txt: no label was taken from it: its layout is not known here.",
    ]


def test_many_files_of_one_layout_are_one_line(house: House, tmp_path: Path) -> None:
    kitti = SOURCES["KITTI"]["label_2/a.txt"]
    (told,) = _told(house, tmp_path / "in", {f"label_2/{n:04}.txt": kitti for n in range(1000)})
    assert told.startswith("label_2/0000.txt: no label was taken from it and about 999 more of its")
    assert house.classes() == []

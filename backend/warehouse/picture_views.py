"""Views of published pictures with their labels, as tables of training pictures are laid out."""

from __future__ import annotations

from collections.abc import Mapping

# As text, where the database can write it; a file of SQLite gives the bytes as they are.
BASE64 = {
    "sqlite": "p.data",
    "postgresql": "translate(encode(p.data, 'base64'), chr(10), '')",
    "snowflake": "BASE64_ENCODE(p.data)",
}
OBJECT = {
    "sqlite": "json_object",
    "postgresql": "json_build_object",
    "snowflake": "OBJECT_CONSTRUCT_KEEP_NULL",
}
LIST = {
    "sqlite": "json_group_array({object})",
    "postgresql": "CAST(json_agg({object} ORDER BY l.box) AS VARCHAR)",
    "snowflake": "TO_JSON(ARRAY_AGG({object}) WITHIN GROUP (ORDER BY l.box))",
}
CORNERS = "'class', c.name, 'x1', l.x1, 'y1', l.y1, 'x2', l.x2, 'y2', l.y2"
# What all of them say of a picture, besides its labels.
FACTS = (
    "i.split AS split, i.lot AS lot, g.name AS golden, i.is_golden AS is_golden, "
    "(i.state = 'done') AS labelled, o.name AS project"
)
PICTURES = (
    "loupe_picture_now p JOIN loupe_image_now i ON i.id = p.image_id "
    "JOIN loupe_project_now o ON o.id = i.project_id "
    "LEFT JOIN loupe_image_now g ON g.id = i.golden_id"
)
# Only what was said of pictures that are done is there to be learnt from.
LABELS = "loupe_label_now l JOIN loupe_class_now c ON c.id = l.class_id"
OF_PICTURE = "l.image_id = i.id AND i.state = 'done'"


def of(dialect: str) -> Mapping[str, str]:
    """The views by name."""
    return {
        "labels_train": _labels(),
        "train_images_labels": _boxes(dialect),
        "pcb_labeled_data": _pictures(dialect),
    }


def _labels() -> str:
    """A row a box, without its picture."""
    return (
        "SELECT i.name AS filename, l.x1 AS xmin, l.y1 AS ymin, l.x2 AS xmax, l.y2 AS ymax, "
        f"c.name AS class, {FACTS} FROM {PICTURES} JOIN ({_labelled()}) l ON {OF_PICTURE} "
        "JOIN loupe_class_now c ON c.id = l.class_id"
    )


def _boxes(dialect: str) -> str:
    """A row a box, each with its whole picture; a picture without a box has a row, too."""
    return (
        f"SELECT i.name AS filename, {BASE64[dialect]} AS image_data, c.name AS class, "
        f"l.x1 AS xmin, l.y1 AS ymin, l.x2 AS xmax, l.y2 AS ymax, {FACTS} "
        f"FROM {PICTURES} LEFT JOIN ({_labelled()}) l ON {OF_PICTURE} "
        "LEFT JOIN loupe_class_now c ON c.id = l.class_id"
    )


def _pictures(dialect: str) -> str:
    """A row a picture, its boxes as a list; its own class where whole pictures have one."""
    told = LIST[dialect].format(object=f"{OBJECT[dialect]}({CORNERS})")
    texts = f"SELECT l.image_id, {told} AS label_text FROM {LABELS} GROUP BY l.image_id"
    text = "CASE WHEN i.state = 'done' THEN COALESCE(t.label_text, '') END"
    return (
        f"SELECT i.name AS filename, p.data AS image_bytes, {text} AS label_text, "
        f"k.name AS class, {FACTS} FROM {PICTURES} "
        f"LEFT JOIN ({texts}) t ON t.image_id = i.id "
        "LEFT JOIN loupe_class_now k ON k.id = i.label_id AND i.state = 'done'"
    )


def _labelled() -> str:
    return "SELECT image_id, class_id, x1, y1, x2, y2 FROM loupe_label_now"

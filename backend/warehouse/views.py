"""Views for analysts, over those that show what stands: `loupe_seen`, `loupe_found` and more."""

from __future__ import annotations

from collections.abc import Mapping

from backend.warehouse import picture_views

# Of a name `line 3/00041.jpg` the board is `00041`.
FILE = {
    "sqlite": "substr(s.name, 1 + length(rtrim(s.name, replace(s.name, '/', ''))))",
    "postgresql": "split_part(s.name, '/', -1)",
    "snowflake": "SPLIT_PART(s.name, '/', -1)",
}
WITHOUT_ENDING = {
    "sqlite": "substr({file}, 1, length(rtrim({file}, replace({file}, '.', ''))) - 1)",
    "postgresql": "regexp_replace({file}, '[.][^.]*$', '')",
    "snowflake": "REGEXP_REPLACE({file}, '[.][^.]*$', '')",
}
DAY = {
    "sqlite": "substr({moment}, 1, 10)",
    "postgresql": "to_char({moment}, 'YYYY-MM-DD')",
    "snowflake": "SUBSTR(TO_CHAR({moment}, 'YYYY-MM-DD'), 1, 10)",
}
BOX = "'name', f.label, 'class', f.class_id, 'confidence', f.score, 'box', {box}"
CORNERS = "'x1', f.x1, 'y1', f.y1, 'x2', f.x2, 'y2', f.y2"
OBJECT = {
    "sqlite": "json_object",
    "postgresql": "json_build_object",
    "snowflake": "OBJECT_CONSTRUCT_KEEP_NULL",
}
# A list in the order of the run; SQLite's aggregate takes its rows as the inner query orders them.
LIST = {
    "sqlite": "(SELECT json_group_array({object}) FROM (SELECT * FROM loupe_found n WHERE {same} "
    "ORDER BY n.idx) f)",
    "postgresql": "(SELECT COALESCE(json_agg({object} ORDER BY f.idx), '[]'::json) "
    "FROM loupe_found f WHERE {same_f})",
    "snowflake": "COALESCE(r.result, ARRAY_CONSTRUCT())",
}
GROUPED = (
    " LEFT JOIN (SELECT f.run_id, f.image_id, ARRAY_AGG({object}) WITHIN GROUP (ORDER BY f.idx) "
    "AS result FROM loupe_found f GROUP BY f.run_id, f.image_id) r "
    "ON r.run_id = s.run_id AND r.image_id = s.image_id"
)


def of(dialect: str) -> Mapping[str, str]:
    """The views by name, each after those that it asks."""
    return {
        "loupe_seen": _seen(dialect),
        "loupe_found": _found(),
        "loupe_result": _result(dialect),
        "defect_logs": _defect_logs(),
        **picture_views.of(dialect),
    }


def _seen(dialect: str) -> str:
    """Each picture that a run could read, with its run and its lot."""
    day = DAY[dialect].format(moment="r.started_at")
    stem = WITHOUT_ENDING[dialect].format(file=FILE[dialect])
    board = f"COALESCE(NULLIF({stem}, ''), {FILE[dialect]})"
    return (
        "SELECT s.run_id, s.image_id, s.name AS file_name, "
        f"{board} AS board, COALESCE(i.lot, '') AS lot, "
        "COALESCE(NULLIF(s.width, 0), i.width) AS width, "
        "COALESCE(NULLIF(s.height, 0), i.height) AS height, "
        f"r.project_id, r.model, r.purpose, r.started_at, {day} AS day "
        "FROM loupe_run_image_now s JOIN loupe_run_now r ON r.id = s.run_id "
        "LEFT JOIN loupe_image_now i ON i.id = s.image_id WHERE s.status = 'ok'"
    )


def _found() -> str:
    """Each box that a run found, with what its class is called today."""
    return (
        "SELECT d.run_id, d.image_id, d.idx, s.file_name, s.board, s.lot, d.class_id, "
        "COALESCE(c.name, d.label) AS label, d.score, d.x1, d.y1, d.x2, d.y2, s.width, s.height, "
        "s.project_id, s.model, s.purpose, s.started_at, s.day "
        "FROM loupe_detection_now d "
        "JOIN loupe_seen s ON s.run_id = d.run_id AND s.image_id = d.image_id "
        "LEFT JOIN loupe_class_now c ON c.id = d.class_id"
    )


def _result(dialect: str) -> str:
    """A picture of a run a row, with all that was found in it as one list."""
    call = OBJECT[dialect]
    told = f"{call}({BOX.format(box=f'{call}({CORNERS})')})"
    same = "{0}.run_id = s.run_id AND {0}.image_id = s.image_id"
    list_ = LIST[dialect].format(object=told, same=same.format("n"), same_f=same.format("f"))
    joined = GROUPED.format(object=told) if dialect == "snowflake" else ""
    return (
        f'SELECT s.file_name AS "file_name", {list_} AS "result", '
        f"s.run_id, s.image_id, s.model, s.started_at FROM loupe_seen s{joined}"
    )


def _defect_logs() -> str:
    """What inspection lines log: boxes from 0 to 1 by their middle, and an id that stays."""
    id_ = " || '-' || ".join(f"CAST(f.{name} AS VARCHAR)" for name in ("run_id", "image_id", "idx"))
    width, height = "NULLIF(f.width, 0)", "NULLIF(f.height, 0)"
    return (
        f"SELECT {id_} AS inference_id, f.board AS board_id, f.started_at AS inference_timestamp, "
        "f.label AS detected_class, f.score AS confidence_score, "
        f"(f.x1 + f.x2) / 2.0 / {width} AS bbox_x_center, "
        f"(f.y1 + f.y2) / 2.0 / {height} AS bbox_y_center, "
        f"(f.x2 - f.x1) / {width} AS bbox_width, (f.y2 - f.y1) / {height} AS bbox_height, "
        "f.file_name AS image_path, f.model AS model_version "
        "FROM loupe_found f WHERE f.purpose = 'detect'"
    )

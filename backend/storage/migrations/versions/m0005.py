"""Know classes by their ids: in detections, models, snapshots, figures and rules."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from backend.storage import types

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# What holds figures by class, and the mark of a class that is known by its id.
BY_CLASS = ("per_class", "curves")
WITHIN = ("metrics", "against", "evaluation")
MARK = "\t"
PROJECT = sa.table("project", sa.column("id", sa.Integer), sa.column("options", types.Json()))
MODEL = sa.table(
    "model",
    sa.column("id", sa.Integer),
    sa.column("project_id", sa.Integer),
    *(sa.column(name, types.Json()) for name in ("classes", "class_ids", "metrics", "facts")),
)
SNAPSHOT = sa.table(
    "snapshot",
    sa.column("id", sa.Integer),
    sa.column("project_id", sa.Integer),
    sa.column("classes", types.Json()),
)
JOB = sa.table(
    "job",
    sa.column("id", sa.Integer),
    sa.column("project_id", sa.Integer),
    sa.column("kind", sa.Text),
    sa.column("result", types.Json()),
)
DETECTIONS = """
UPDATE detection SET class_id = (
    SELECT class_name.class_id FROM class_name JOIN run ON run.project_id = class_name.project_id
    WHERE run.id = detection.run_id AND class_name.name = detection.label
)
"""
Names = dict[int, dict[str, int]]


def upgrade() -> None:
    """A name of that time means one class alone: none was ever given to another."""
    with op.batch_alter_table("detection") as table:
        table.drop_index("detection_by_class")
    op.add_column("detection", sa.Column("class_id", sa.Integer(), nullable=True))
    op.execute(DETECTIONS)
    op.create_index("detection_by_class", "detection", ["run_id", "class_id", "score"])
    op.add_column(
        "model", sa.Column("class_ids", types.Json(), nullable=False, server_default="[]")
    )
    names = _names()
    _thresholds(names)
    _models(names)
    _snapshots(names)
    _results(names)


def downgrade() -> None:
    """There is no way back but the backup."""
    raise NotImplementedError


def _names() -> Names:
    found: Names = {}
    query = sa.text("SELECT project_id, name, class_id FROM class_name")
    for project_id, name, class_id in op.get_bind().execute(query):
        found.setdefault(project_id, {})[name] = class_id
    return found


def _thresholds(names: Names) -> None:
    for id_, options in op.get_bind().execute(sa.select(PROJECT.c.id, PROJECT.c.options)).all():
        rule = (options or {}).get("review")
        if not rule or not rule.get("thresholds"):
            continue
        ids = names.get(id_, {})
        kept = {str(ids[n]): value for n, value in rule["thresholds"].items() if n in ids}
        changed = options | {"review": rule | {"thresholds": kept}}
        op.execute(PROJECT.update().where(PROJECT.c.id == id_).values(options=changed))


def _models(names: Names) -> None:
    for row in op.get_bind().execute(sa.select(MODEL)).all():
        ids = names.get(row.project_id, {})
        values = {
            "class_ids": [ids.get(name) for name in row.classes],
            "metrics": _keyed(row.metrics, ids),
            "facts": _keyed(row.facts, ids),
        }
        op.execute(MODEL.update().where(MODEL.c.id == row.id).values(values))


def _snapshots(names: Names) -> None:
    for row in op.get_bind().execute(sa.select(SNAPSHOT)).all():
        ids = names.get(row.project_id, {})
        kept = [ids[name] for name in row.classes if name in ids]
        op.execute(SNAPSHOT.update().where(SNAPSHOT.c.id == row.id).values(classes=kept))


def _results(names: Names) -> None:
    told = JOB.c.kind.in_(("train", "evaluate", "judge"))
    for row in op.get_bind().execute(sa.select(JOB).where(told)).all():
        kept = _keyed(row.result or {}, names.get(row.project_id, {}))
        op.execute(JOB.update().where(JOB.c.id == row.id).values(result=kept))


def _keyed(figures: dict[str, Any] | None, ids: dict[str, int]) -> dict[str, Any]:
    found = dict(figures or {})
    for part in {*BY_CLASS}.intersection(found):
        found[part] = {_key(name, ids): value for name, value in found[part].items()}
    if "confusion" in found:
        labels = [_key(name, ids) for name in found["confusion"]["labels"]]
        found["confusion"] = {**found["confusion"], "labels": labels}
    for part in WITHIN:
        if isinstance(found.get(part), dict):
            found[part] = _keyed(found[part], ids)
    return found


def _key(name: str, ids: dict[str, int]) -> str:
    return f"{MARK}{ids[name]}" if name in ids else name

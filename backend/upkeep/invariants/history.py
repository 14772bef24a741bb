"""What people said stands as they said it: revisions, decisions, classes, the champion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.storage.tables import BoxRow, ClassRow, ImageRow, RevisionRow
from backend.upkeep.invariants.rule import Row, Rule

PART = 500
RANK = """(SELECT COUNT(*) FROM class o WHERE o.project_id = class.project_id
AND o.merged_into_id IS NULL AND o.retired IS NULL AND (o."index" < class."index"
OR (o."index" = class."index" AND o.id < class.id)))"""
Box = tuple[Any, ...]


def _other_boxes(session: Session) -> Iterator[Row]:
    """Images whose boxes are not those of their newest revision."""
    query = select(ClassRow.id, ClassRow.merged_into_id)
    today = {id_: merged or id_ for id_, merged in session.execute(query)}
    last = 0
    newest = (
        select(RevisionRow.image_id, RevisionRow.version, RevisionRow.boxes)
        .join(ImageRow, ImageRow.id == RevisionRow.image_id)
        .where(RevisionRow.version == ImageRow.version)
        .order_by(RevisionRow.image_id)
        .limit(PART)
    )
    while rows := session.execute(newest.where(RevisionRow.image_id > last)).all():
        standing = _standing(session, last, rows[-1].image_id, today)
        for id_, version, boxes in rows:
            if _said(boxes, today) != standing.get(id_, set()):
                yield {"id": id_, "version": version}
        last = rows[-1].image_id


def _said(boxes: Sequence[Mapping[str, Any]], today: Mapping[int, int]) -> set[Box]:
    return {
        (
            one["id"], today.get(one["class"]), *one["at"], one["origin"], one["author"],
            *one.get("detection", (None, None, None)),
        )
        for one in boxes
    }  # fmt: skip


def _standing(
    session: Session, after: int, until: int, today: Mapping[int, int]
) -> dict[int, set[Box]]:
    found: dict[int, set[Box]] = {}
    query = select(BoxRow).where(BoxRow.image_id > after, BoxRow.image_id <= until)
    for b in session.scalars(query.execution_options(populate_existing=True)):
        found.setdefault(b.image_id, set()).add(
            (
                b.id, today.get(b.class_id), b.x1, b.y1, b.x2, b.y2, b.origin, b.author,
                b.run_id, b.run_image_id, b.run_idx,
            )
        )  # fmt: skip
    session.expunge_all()
    return found


def _renumber(session: Session) -> None:
    """Number the classes of each project anew, in the order that they have."""
    query = select(ClassRow).filter_by(merged_into_id=None, retired=None)
    order: dict[int, int] = {}
    for row in session.scalars(query.order_by(ClassRow.project_id, ClassRow.index, ClassRow.id)):
        row.index = order.setdefault(row.project_id, 0)
        order[row.project_id] += 1
    session.flush()


def _moved(table: str, column: str) -> str:
    """Moves what names a merged class to the one it was merged into."""
    target = f"(SELECT c.merged_into_id FROM class c WHERE c.id = {table}.{column})"
    merged = "(SELECT id FROM class WHERE merged_into_id IS NOT NULL)"
    return f"UPDATE {table} SET {column} = {target} WHERE {column} IN {merged}"


RULES = (
    Rule(
        "versions",
        "Image {id} stands at version {version}, but has {there} revisions up to {last}.",
        """SELECT i.id, i.version, COUNT(r.version) AS there, COALESCE(MAX(r.version), 0) AS last
FROM image i LEFT JOIN revision r ON r.image_id = i.id GROUP BY i.id, i.version
HAVING COUNT(r.version) <> i.version OR COALESCE(MAX(r.version), 0) <> i.version""",
    ),
    Rule(
        "boxes",
        "The boxes of image {id} are not those of its newest revision, version {version}.",
        _other_boxes,
    ),
    Rule(
        "champion",
        "Project {project_id} has {champions} champions.",
        "SELECT project_id, COUNT(*) AS champions FROM model WHERE champion "
        "GROUP BY project_id HAVING COUNT(*) > 1",
    ),
    Rule(
        "champion-is-ready",
        "Model {id} is the champion of project {project_id}, but is {state}.",
        "SELECT id, project_id, state FROM model WHERE champion AND state <> 'ready'",
    ),
    Rule(
        "order-of-classes",
        "Class {name} of project {project_id} stands at place {place}; it is number {rank}.",
        f'SELECT name, project_id, "index" AS place, {RANK} AS rank FROM class '
        f'WHERE merged_into_id IS NULL AND retired IS NULL AND "index" <> {RANK}',
        _renumber,
    ),
    Rule(
        "merged-twice",
        "Class {id} was merged into class {merged_into_id}, which was merged itself.",
        "SELECT s.id, s.merged_into_id FROM class s JOIN class t ON t.id = s.merged_into_id "
        "WHERE t.merged_into_id IS NOT NULL",
    ),
    Rule(
        "boxes-of-merged-class",
        "Class {class_id} was merged into another, but {boxes} boxes still have it.",
        "SELECT b.class_id, COUNT(*) AS boxes FROM box b JOIN class c ON c.id = b.class_id "
        "WHERE c.merged_into_id IS NOT NULL GROUP BY b.class_id",
        _moved("box", "class_id"),
    ),
    Rule(
        "boxes-of-removed-class",
        "Class {class_id} was taken out of its project, but {boxes} boxes still have it.",
        "SELECT b.class_id, COUNT(*) AS boxes FROM box b JOIN class c ON c.id = b.class_id "
        "WHERE c.retired IS NOT NULL GROUP BY b.class_id",
    ),
    Rule(
        "images-of-merged-class",
        "Class {label_id} was merged into another, but {images} images still have it.",
        "SELECT i.label_id, COUNT(*) AS images FROM image i JOIN class c ON c.id = i.label_id "
        "WHERE c.merged_into_id IS NOT NULL GROUP BY i.label_id",
        _moved("image", "label_id"),
    ),
    Rule(
        "names-of-merged-class",
        "The name {name} of project {project_id} leads to a class that was merged into another.",
        "SELECT n.name, n.project_id FROM class_name n JOIN class c ON c.id = n.class_id "
        "WHERE c.merged_into_id IS NOT NULL",
        _moved("class_name", "class_id"),
    ),
    Rule(
        "one-project",
        "The {what} {id} belongs to another project than what it names.",
        """SELECT 'box of image' AS what, b.image_id AS id FROM box b
JOIN image i ON i.id = b.image_id JOIN class c ON c.id = b.class_id
WHERE c.project_id <> i.project_id
UNION ALL SELECT 'image', i.id FROM image i JOIN image g ON g.id = i.golden_id
WHERE g.project_id <> i.project_id
UNION ALL SELECT 'image', i.id FROM image i JOIN class c ON c.id = i.label_id
WHERE c.project_id <> i.project_id
UNION ALL SELECT 'snapshot', s.id FROM snapshot s JOIN snapshot_image m ON m.snapshot_id = s.id
JOIN image i ON i.id = m.image_id WHERE i.project_id <> s.project_id
UNION ALL SELECT 'model', m.id FROM model m JOIN snapshot s ON s.id = m.snapshot_id
WHERE s.project_id <> m.project_id
UNION ALL SELECT 'class', s.id FROM class s JOIN class t ON t.id = s.merged_into_id
WHERE s.project_id <> t.project_id""",
    ),
    Rule(
        "undone",
        "Decision {id} takes back decision {undoes}, which says nothing of the same thing before.",
        """SELECT u.id, u.undoes FROM decision u JOIN decision d ON d.id = u.undoes
WHERE d.run_id <> u.run_id OR d.image_id <> u.image_id OR COALESCE(d.idx, -1) <> COALESCE(u.idx, -1)
OR d.verdict <> u.verdict OR d.id >= u.id OR d.undoes IS NOT NULL""",
    ),
    Rule(
        "undone-once",
        "Decision {undoes} is taken back {times} times.",
        "SELECT undoes, COUNT(*) AS times FROM decision WHERE undoes IS NOT NULL "
        "GROUP BY undoes HAVING COUNT(*) > 1",
    ),
)

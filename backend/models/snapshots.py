"""Snapshots: images and revisions frozen for one training, split by image and by group."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session, aliased

from backend.domain import Snapshot, SnapshotImage, Split, State, Task
from backend.errors import NotFound, Refused
from backend.labels import labelling
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import ImageRow, SnapshotImageRow, SnapshotRow

# Of a hundred groups that nobody has assigned: test below the first, validation below the second.
TEST_BELOW, VAL_BELOW = 10, 25
PART = 500


@dataclass(frozen=True, slots=True)
class _Member:
    image_id: int
    version: int
    split: Split
    group: str
    golden_id: int | None


def freeze(session: Session, project_id: int, seed: int, author: str) -> Snapshot:
    """Freeze what is labelled now. The same labels and seed give the same splits."""
    project = catalogue.get(session, project_id)
    members = _split(_labelled(session, project_id, project.task), seed)
    if not members:
        raise Refused(f"The project {project.name!r} has no labelled image yet; label some first.")
    kinds = [kind.id for kind in project.classes]
    counts = dict(Counter(str(member.split) for member in members))
    row = SnapshotRow(project_id=project_id, seed=seed, author=author, classes=kinds, counts=counts)
    session.add(row)
    session.flush()
    engine.bulk_insert(session, SnapshotImageRow, [_values(row.id, one) for one in members])
    return _snapshot(session, row)


def plan(session: Session, project_id: int, seed: int) -> dict[int, Split]:
    """Where each labelled image would go if a snapshot were frozen now."""
    project = catalogue.get(session, project_id)
    members = _split(_labelled(session, project_id, project.task), seed)
    return {member.image_id: member.split for member in members}


def get(session: Session, snapshot_id: int) -> Snapshot:
    """The snapshot with that id."""
    row = session.get(SnapshotRow, snapshot_id)
    if row is None:
        raise NotFound(f"There is no snapshot {snapshot_id}.")
    return _snapshot(session, row)


def images(session: Session, snapshot_id: int) -> Iterable[SnapshotImage]:
    """The images of a snapshot with their frozen labels, in the order of their ids."""
    golden = aliased(ImageRow)
    query = (
        select(SnapshotImageRow, ImageRow, golden.sha256)
        .join(ImageRow, ImageRow.id == SnapshotImageRow.image_id)
        .outerjoin(golden, golden.id == SnapshotImageRow.golden_id)
        .where(SnapshotImageRow.snapshot_id == snapshot_id)
        .order_by(SnapshotImageRow.image_id)
    )
    rows = [(member, image, sha) for member, image, sha in session.execute(query)]
    for start in range(0, len(rows), PART):
        yield from _images(session, rows[start : start + PART])


def some(session: Session, ids: Iterable[int]) -> list[SnapshotImage]:
    """Images in that order with their labels of now, as a snapshot of them would have them."""
    wanted = list(ids)
    rows = session.scalars(select(ImageRow).where(ImageRow.id.in_(wanted)))
    found = {row.id: row for row in rows}
    there = [found[id] for id in wanted if id in found]
    return list(_images(session, [(_member(row), row, None) for row in there]))


def digest(session: Session, snapshot_id: int) -> str:
    """Names what a training learns from: the same bytes, labels' versions and splits, the same."""
    row = SnapshotImageRow
    query = (
        select(ImageRow.sha256, row.version, row.split)
        .join(ImageRow, ImageRow.id == row.image_id)
        .where(row.snapshot_id == snapshot_id)
        .order_by(row.image_id)
    )
    found = hashlib.sha256()
    for sha256, version, split in session.execute(query.execution_options(yield_per=PART)):
        found.update(f"{sha256} {version} {split}\n".encode())
    return found.hexdigest()


def learned(session: Session, snapshot_id: int, ids: Iterable[int]) -> int:
    """How many of these images a training on this snapshot learns from."""
    row = SnapshotImageRow
    query = select(row.image_id).where(row.snapshot_id == snapshot_id, row.split == Split.TRAIN)
    return len(set(session.scalars(query)).intersection(ids))


def split_of(key: str, seed: int) -> Split:
    """Where a group (or an image without one) goes when nobody has said."""
    place = int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:8]) % 100
    if place < TEST_BELOW:
        return Split.TEST
    return Split.VAL if place < VAL_BELOW else Split.TRAIN


def _member(image: ImageRow) -> SnapshotImageRow:
    return SnapshotImageRow(image_id=image.id, version=image.version, split=Split.TRAIN)


def _labelled(session: Session, project_id: int, task: Task) -> Sequence[Row[Any]]:
    """What decides where an image goes, without all the rest of its row."""
    query = select(
        ImageRow.id,
        ImageRow.version,
        ImageRow.split,
        ImageRow.group,
        ImageRow.golden_id,
        ImageRow.sha256,
    ).where(
        ImageRow.project_id == project_id,
        ~ImageRow.is_golden,
        ImageRow.deleted.is_(None),
        ImageRow.state == State.DONE,
    )
    if task == Task.CLASSIFY:
        query = query.where(ImageRow.label_id.is_not(None))
    return session.execute(query.order_by(ImageRow.id)).all()


def _split(rows: Sequence[Row[Any]], seed: int) -> list[_Member]:
    """Keep what was assigned; where validation is missing, take it from training by group."""
    assigned = {row.id: Split(row.split) if row.split else None for row in rows}
    has_val = Split.VAL in assigned.values()
    open_groups = _open_groups(rows, assigned, has_val)
    places = _places(sorted(open_groups), seed, Split.TEST not in assigned.values(), has_val)
    members = []
    for row in rows:
        split = assigned[row.id]
        if split is None or (split == Split.TRAIN and not has_val):
            split = places[_key(row)]
        members.append(_Member(row.id, row.version, split, row.group, row.golden_id))
    return members


def _open_groups(
    rows: Sequence[Row[Any]], assigned: dict[int, Split | None], has_val: bool
) -> set[str]:
    return {
        _key(row)
        for row in rows
        if assigned[row.id] is None or (assigned[row.id] == Split.TRAIN and not has_val)
    }


def _places(keys: Sequence[str], seed: int, needs_test: bool, has_val: bool) -> dict[str, Split]:
    places = {key: split_of(key, seed) for key in keys}
    if not needs_test:
        places = {k: Split.TRAIN if s == Split.TEST else s for k, s in places.items()}
    wanted = [Split.TRAIN] + [Split.VAL] * (not has_val) + [Split.TEST] * needs_test
    # A handful of groups may leave a split empty by chance; each then gets one, by turns.
    if any(split not in places.values() for split in wanted):
        order = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
        turns = [*wanted, *[Split.TRAIN] * 5]
        places = {key: turns[i % len(turns)] for i, key in enumerate(order)}
    return places


def _key(row: Row[Any]) -> str:
    # Equal bytes under two names must not end up on two sides either.
    return str(row.group or row.sha256)


def _values(snapshot_id: int, member: _Member) -> dict[str, object]:
    return {
        "snapshot_id": snapshot_id,
        "image_id": member.image_id,
        "version": member.version,
        "split": member.split,
        "group_name": member.group,
        "golden_id": member.golden_id,
    }


def _images(
    session: Session, rows: Sequence[tuple[SnapshotImageRow, ImageRow, str | None]]
) -> Iterable[SnapshotImage]:
    versions = {member.image_id: member.version for member, _, _ in rows if member.version}
    frozen = labelling.revisions(session, versions)
    for member, image, golden in rows:
        said = frozen.get(member.image_id)
        yield SnapshotImage(
            id=image.id,
            name=image.name,
            sha256=image.sha256,
            width=image.width,
            height=image.height,
            split=Split(member.split),
            version=member.version,
            boxes=said.boxes if said else (),
            label=said.label if said else "",
            group=member.group,
            golden_sha256=golden or "",
        )


def _snapshot(session: Session, row: SnapshotRow) -> Snapshot:
    """Two classes that were merged since are one."""
    names = class_names.of(session, row.project_id)
    known = (names.stands[one] for one in row.classes if one in names.stands)
    ids = tuple(dict.fromkeys(known))
    kinds = tuple(names.own[class_id] for class_id in ids)
    return Snapshot(row.id, row.project_id, row.seed, kinds, row.at, row.counts, ids)

"""The tables: what people do, what workers carry out, and what models find, in one database."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from backend.domain import JobState, ModelState, State
from backend.storage.types import Json, Key, Moment, now

TYPES: dict[Any, Any] = {datetime: Moment, dict[str, Any]: Json, list[Any]: Json, str: Text}


class Base(DeclarativeBase):
    type_annotation_map: ClassVar[dict[Any, Any]] = TYPES


# A number that exports, reports and addresses may name means nothing else later.
NEVER_AGAIN = {"sqlite_autoincrement": True}


def _unique_where(name: str, condition: str, *columns: str) -> Index:
    """A unique index over the rows that meet a condition."""
    where = text(condition)
    return Index(name, *columns, unique=True, sqlite_where=where, postgresql_where=where)


class ProjectRow(Base):
    __tablename__ = "project"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    task: Mapped[str] = mapped_column(String(20))
    created: Mapped[datetime] = mapped_column(default=now)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    removed: Mapped[datetime | None] = mapped_column(Moment)
    # How often what its classes are called has changed: who knows it for this number, knows it.
    named: Mapped[int] = mapped_column(default=0, server_default="0")


class ClassRow(Base):
    """A kind of thing to find; one that was merged into another stays, for older revisions."""

    __tablename__ = "class"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    index: Mapped[int]
    name: Mapped[str] = mapped_column(String(200))
    color: Mapped[str] = mapped_column(String(9))
    hotkey: Mapped[str] = mapped_column(String(1), default="")
    severity: Mapped[int] = mapped_column(default=1)
    merged_into_id: Mapped[int | None] = mapped_column(ForeignKey("class.id"))
    retired: Mapped[datetime | None] = mapped_column(Moment)


class ClassNameRow(Base):
    """Every name a class has or had, so that older files and offline edits still find it."""

    __tablename__ = "class_name"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("class.id"), index=True)


class ImageRow(Base):
    """A picture; `boxes` and `doubt` repeat what other tables say, for sorting."""

    __tablename__ = "image"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        Index("image_by_bytes", "project_id", "sha256"),
        Index("image_by_name", "project_id", "is_golden", "deleted", "name"),
        Index("image_by_state", "project_id", "is_golden", "deleted", "state", "name"),
        Index("image_by_boxes", "project_id", "is_golden", "deleted", "box_count", "name"),
        Index("image_by_group", "project_id", "group_name", "is_golden", "deleted", "name"),
        Index("image_by_doubt", "project_id", "is_golden", "deleted", "doubt", "name"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(1000))
    sha256: Mapped[str] = mapped_column(String(64))
    width: Mapped[int]
    height: Mapped[int]
    added: Mapped[datetime] = mapped_column(default=now)
    split: Mapped[str | None] = mapped_column(String(10))
    group: Mapped[str] = mapped_column("group_name", String(300), default="")
    golden_id: Mapped[int | None] = mapped_column(ForeignKey("image.id"), index=True)
    is_golden: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(String(10), default=State.NEW)
    version: Mapped[int] = mapped_column(default=0)
    label_id: Mapped[int | None] = mapped_column(ForeignKey("class.id"))
    comment: Mapped[str] = mapped_column(default="")
    author: Mapped[str] = mapped_column(String(100), default="")
    boxes: Mapped[int] = mapped_column("box_count", default=0)
    doubt: Mapped[float | None]
    deleted: Mapped[datetime | None] = mapped_column(Moment)


class BoxRow(Base):
    """The boxes of the newest revision of each image."""

    __tablename__ = "box"
    __table_args__ = (Index("box_by_class", "class_id", "image_id"),)
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("class.id"))
    x1: Mapped[float]
    y1: Mapped[float]
    x2: Mapped[float]
    y2: Mapped[float]
    origin: Mapped[str] = mapped_column(String(10))
    author: Mapped[str] = mapped_column(String(100), default="")
    run_id: Mapped[int | None]
    run_image_id: Mapped[int | None]
    run_idx: Mapped[int | None]


class RevisionRow(Base):
    """All that was said of an image at one save; never changed, never deleted.

    `key` names the save as its sender knows it: sent twice, it is taken once.
    """

    __tablename__ = "revision"
    __table_args__ = (
        Index("revision_by_time", "at"),
        _unique_where("revision_by_key", "key IS NOT NULL", "image_id", "key"),
    )
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)
    action: Mapped[str] = mapped_column(String(200), default="")
    state: Mapped[str] = mapped_column(String(10))
    label_id: Mapped[int | None]
    comment: Mapped[str] = mapped_column(default="")
    boxes: Mapped[list[Any]] = mapped_column(default=list)
    key: Mapped[str | None] = mapped_column(String(64))


class SnapshotRow(Base):
    """What a training learns from; `classes` are ids, in their order of that time."""

    __tablename__ = "snapshot"
    __table_args__ = NEVER_AGAIN
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    seed: Mapped[int]
    author: Mapped[str] = mapped_column(String(100), default="")
    at: Mapped[datetime] = mapped_column(default=now)
    classes: Mapped[list[Any]]
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class SnapshotImageRow(Base):
    __tablename__ = "snapshot_image"
    __table_args__ = (Index("snapshot_image_by_image", "image_id"),)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    image_id: Mapped[int] = mapped_column(ForeignKey("image.id"), primary_key=True)
    version: Mapped[int]
    split: Mapped[str] = mapped_column(String(10))
    group: Mapped[str] = mapped_column("group_name", String(300), default="")
    golden_id: Mapped[int | None]


class ModelRow(Base):
    """A model; `classes` are the names in its file, `class_ids` what each of them means."""

    __tablename__ = "model"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        _unique_where("model_champion", "champion", "project_id"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    number: Mapped[int]
    family: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(10), default=ModelState.TRAINING)
    champion: Mapped[bool] = mapped_column(default=False)
    at: Mapped[datetime] = mapped_column(default=now)
    author: Mapped[str] = mapped_column(String(100), default="")
    weights: Mapped[str] = mapped_column(String(64), default="")
    classes: Mapped[list[Any]]
    class_ids: Mapped[list[Any]] = mapped_column(default=list)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    metrics: Mapped[dict[str, Any]] = mapped_column(default=dict)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    snapshot_id: Mapped[int | None] = mapped_column(ForeignKey("snapshot.id"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("model.id"))
    job_id: Mapped[int | None]


class SelectionRow(Base):
    """Images that somebody chose, in the order of their ids; jobs and runs name it."""

    __tablename__ = "selection"
    __table_args__ = (Index("selection_by_digest", "project_id", "digest"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    digest: Mapped[str] = mapped_column(String(64))
    images: Mapped[list[Any]]
    at: Mapped[datetime] = mapped_column(default=now)


class JobRow(Base):
    """A request; `beats` counts heartbeats, so that a silent worker shows on any clock.

    People call a job, and the run that it makes, by its id; that of a try of a picture is negative.
    No two running jobs share a `lock`, no two that never ran share a `queueing_lock`.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("job_by_state", "state", "priority", "id"),
        _unique_where("job_lock", "state = 'running'", "lock"),
        _unique_where("job_queueing_lock", "state = 'queued' AND attempt = 0", "queueing_lock"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"), index=True)
    request: Mapped[dict[str, Any]] = mapped_column(default=dict)
    author: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[str] = mapped_column(String(10), default=JobState.QUEUED)
    priority: Mapped[int] = mapped_column(default=0)
    at: Mapped[datetime] = mapped_column(default=now)
    started: Mapped[datetime | None] = mapped_column(Moment)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    lock: Mapped[str | None] = mapped_column(String(200))
    queueing_lock: Mapped[str | None] = mapped_column(String(200))
    idempotency_key: Mapped[str | None] = mapped_column(String(200), unique=True)
    after_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str] = mapped_column(String(200), default="")
    beats: Mapped[int] = mapped_column(default=0)
    wish: Mapped[str] = mapped_column(String(10), default="")
    events: Mapped[int] = mapped_column("event_count", default=0)
    progress: Mapped[float] = mapped_column(default=0.0)
    message: Mapped[str] = mapped_column(default="")
    error: Mapped[str] = mapped_column(default="")
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)


class JobEventRow(Base):
    __tablename__ = "job_event"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    level: Mapped[str] = mapped_column(String(10), default="info")
    text: Mapped[str] = mapped_column(default="")
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)


class WorkerRow(Base):
    """A worker process that is or was alive, and the cluster as it sees it."""

    __tablename__ = "worker"
    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(200))
    pid: Mapped[int]
    started: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    cluster: Mapped[dict[str, Any]] = mapped_column(default=dict)


class DecisionRow(Base):
    """What a person said of a detection; an undo is a decision too, and names what it undoes."""

    __tablename__ = "decision"
    __table_args__ = (
        Index("decision_by_image", "run_id", "image_id"),
        Index("decision_by_detection", "run_id", "idx", "image_id"),
        NEVER_AGAIN,
    )
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    run_id: Mapped[int]
    image_id: Mapped[int]
    idx: Mapped[int | None]
    verdict: Mapped[str] = mapped_column(String(20))
    author: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float] = mapped_column(default=0.0)
    box: Mapped[dict[str, Any]] = mapped_column(default=dict)
    undoes: Mapped[int | None]
    revision: Mapped[int | None]


class RepeatRow(Base):
    """A second, blind answer to an image of a run; complete when it has the board's verdict."""

    __tablename__ = "repeat"
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    author: Mapped[str] = mapped_column(String(100), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[str] = mapped_column(String(20), default="")
    judged: Mapped[dict[str, Any]] = mapped_column(default=dict)


class LeaseRow(Base):
    """An image of a run that one person has before them; it ends by itself."""

    __tablename__ = "lease"
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    holder: Mapped[str] = mapped_column(String(100))
    author: Mapped[str] = mapped_column(String(100), default="")
    until: Mapped[datetime] = mapped_column(Moment)


class PersonRow(Base):
    __tablename__ = "person"
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    role: Mapped[str] = mapped_column(String(10))
    password: Mapped[str] = mapped_column(String(200))
    created: Mapped[datetime] = mapped_column(default=now)


class LoginRow(Base):
    """A browser in which somebody is logged in; `id` is the digest of what its cookie holds."""

    __tablename__ = "login"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    person: Mapped[str] = mapped_column(ForeignKey("person.name"), index=True)
    began: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    address: Mapped[str] = mapped_column(String(100), default="")
    browser: Mapped[str] = mapped_column(String(200), default="")


class SettingRow(Base):
    """What the house itself must remember between starts, such as the key that signs cookies."""

    __tablename__ = "setting"
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    value: Mapped[str]


class RunRow(Base):
    """One model over one set of images; its id is that of the job that made it."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    project_id: Mapped[int | None] = mapped_column(index=True)
    model_id: Mapped[int | None]
    model: Mapped[str] = mapped_column(String(200))
    family: Mapped[str] = mapped_column(String(40))
    weights: Mapped[str] = mapped_column(String(64), default="")
    runtime: Mapped[str] = mapped_column(String(40), default="")
    ledger_key: Mapped[str] = mapped_column(String(64), default="", index=True)
    purpose: Mapped[str] = mapped_column(String(20), default="detect")
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    author: Mapped[str] = mapped_column(String(100), default="")
    at: Mapped[datetime] = mapped_column("started_at", default=now)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    images: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class RunImageRow(Base):
    """An image that a run has seen, also when nothing was found in it.

    `best` is its best score, `largest` the area of its largest detection: to sort by.
    """

    __tablename__ = "run_image"
    __table_args__ = (
        Index("run_image_by_doubt", "run_id", "status", "doubt", "image_id"),
        Index("run_image_by_name", "run_id", "status", "name", "image_id"),
        Index("run_image_by_best", "run_id", "status", "best", "image_id"),
        Index("run_image_by_largest", "run_id", "status", "largest", "image_id"),
        Index("run_image_by_count", "run_id", "status", "detection_count", "image_id"),
        Index("run_image_by_bytes", "sha256", "run_id"),
        {"sqlite_with_rowid": False},
    )
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(1000))
    sha256: Mapped[str] = mapped_column(String(64), default="")
    width: Mapped[int] = mapped_column(default=0)
    height: Mapped[int] = mapped_column(default=0)
    status: Mapped[str] = mapped_column(String(12))
    error: Mapped[str] = mapped_column(default="")
    milliseconds: Mapped[float] = mapped_column(default=0.0)
    worker: Mapped[str] = mapped_column(String(200), default="")
    detections: Mapped[int] = mapped_column("detection_count", default=0)
    doubt: Mapped[float] = mapped_column(default=0.0)
    best: Mapped[float] = mapped_column(default=0.0)
    largest: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[str] = mapped_column(String(12), default="")
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class DetectionRow(Base):
    """A box that a run found; `label` is what its class was called then, or what none is called."""

    __tablename__ = "detection"
    __table_args__ = (
        Index("detection_by_class", "run_id", "class_id", "score"),
        {"sqlite_with_rowid": False},
    )
    run_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    image_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    idx: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    class_id: Mapped[int | None]
    label: Mapped[str] = mapped_column(String(200))
    score: Mapped[float]
    x1: Mapped[float]
    y1: Mapped[float]
    x2: Mapped[float]
    y2: Mapped[float]


class MetricRow(Base):
    """One figure of a measurement, named by its job; `class_id` is 0 for one over all classes."""

    __tablename__ = "metric"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    class_id: Mapped[int] = mapped_column(Key, primary_key=True, autoincrement=False)
    model_id: Mapped[int | None] = mapped_column(ForeignKey("model.id"), index=True)
    split: Mapped[str] = mapped_column(String(10), default="")
    value: Mapped[float]


class OutboxRow(Base):
    """A part of a kind that has changed since it was published; `taken` is the load that has it.

    The database itself writes these rows (backend.warehouse.outbox), so that no writer can forget.
    """

    __tablename__ = "outbox"
    __table_args__ = (Index("outbox_by_part", "kind", "head", "tail"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    head: Mapped[int] = mapped_column(BigInteger)
    tail: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column("row_count", BigInteger)
    gone: Mapped[bool]
    urgent: Mapped[bool]
    at: Mapped[datetime] = mapped_column(default=now)
    taken: Mapped[int | None] = mapped_column(BigInteger, index=True)


class LoadRow(Base):
    """A load of the warehouse: the ledger of what was published; its version is in each row of it.

    Only one runs; `beats` counts heartbeats. Where it is not `swept`, something may be left of it.
    """

    __tablename__ = "load"
    __table_args__ = (_unique_where("load_running", "state = 'running'", "state"), NEVER_AGAIN)
    id: Mapped[int] = mapped_column(Key, primary_key=True)
    state: Mapped[str] = mapped_column(String(10))
    step: Mapped[str] = mapped_column(String(60), default="")
    holder: Mapped[str] = mapped_column(String(200))
    beats: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(BigInteger, default=0)
    started: Mapped[datetime] = mapped_column(default=now)
    finished: Mapped[datetime | None] = mapped_column(Moment)
    rows: Mapped[dict[str, Any]] = mapped_column("row_counts", default=dict)
    statements: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    error: Mapped[str] = mapped_column(default="")
    swept: Mapped[bool] = mapped_column(default=True)

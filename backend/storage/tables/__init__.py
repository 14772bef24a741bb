"""The tables: what people do, what workers carry out, and what models find.

A module a room; each may ask the types of the columns and nouns alone.
"""

from __future__ import annotations

from backend.storage.tables.base import Base
from backend.storage.tables.crops import CropRow
from backend.storage.tables.jobs import JobEventRow, JobRow, WorkerRow
from backend.storage.tables.labels import BoxRow, ImageRow, RevisionRow
from backend.storage.tables.models import MetricRow, ModelRow, SnapshotImageRow, SnapshotRow
from backend.storage.tables.overview import (
    BoardMarkRow,
    BoardSumRow,
    ClassSumRow,
    PartSumRow,
)
from backend.storage.tables.people import LoginRow, PersonRow, SettingRow
from backend.storage.tables.projects import ClassNameRow, ClassRow, ProjectRow, SelectionRow
from backend.storage.tables.publishing import LoadRow, OutboxRow, PictureRow
from backend.storage.tables.review import (
    DecisionRow,
    DismissalRow,
    DoubtRow,
    LeaseRow,
    RepeatRow,
)
from backend.storage.tables.runs import DetectionRow, RunImageRow, RunRow
from backend.storage.tables.scaling import TurnRow
from backend.storage.tables.searches import SearchRow, TrialRow
from backend.storage.tables.tokens import TokenRow, TokenUseRow
from backend.storage.tables.tracking import TrackedFigureRow, TrackedRunRow

__all__ = [
    "Base",
    "BoardMarkRow",
    "BoardSumRow",
    "BoxRow",
    "ClassNameRow",
    "ClassRow",
    "ClassSumRow",
    "CropRow",
    "DecisionRow",
    "DetectionRow",
    "DismissalRow",
    "DoubtRow",
    "ImageRow",
    "JobEventRow",
    "JobRow",
    "LeaseRow",
    "LoadRow",
    "LoginRow",
    "MetricRow",
    "ModelRow",
    "OutboxRow",
    "PartSumRow",
    "PersonRow",
    "PictureRow",
    "ProjectRow",
    "RepeatRow",
    "RevisionRow",
    "RunImageRow",
    "RunRow",
    "SearchRow",
    "SelectionRow",
    "SettingRow",
    "SnapshotImageRow",
    "SnapshotRow",
    "TokenRow",
    "TokenUseRow",
    "TrackedFigureRow",
    "TrackedRunRow",
    "TrialRow",
    "TurnRow",
    "WorkerRow",
]

"""The nouns of Loupe, as frozen dataclasses; may ask nothing else of Loupe.

Rows of the database never leave backend; these do. Boxes are corners in float pixels of the
original image, everywhere, and name their class.
"""

from __future__ import annotations

from backend.domain.jobs import FINAL, Job, JobEvent, JobState, Wish
from backend.domain.labels import (
    Box,
    Class,
    DetectionRef,
    Image,
    Origin,
    Project,
    Revision,
    Snapshot,
    SnapshotImage,
    Split,
    State,
    Task,
)
from backend.domain.models import Model, ModelState, Search, Trial, TrialState
from backend.domain.people import Bearer, Person, Role
from backend.domain.runs import Detection, Run, RunImage, Verdict

__all__ = [
    "FINAL",
    "Bearer",
    "Box",
    "Class",
    "Detection",
    "DetectionRef",
    "Image",
    "Job",
    "JobEvent",
    "JobState",
    "Model",
    "ModelState",
    "Origin",
    "Person",
    "Project",
    "Revision",
    "Role",
    "Run",
    "RunImage",
    "Search",
    "Snapshot",
    "SnapshotImage",
    "Split",
    "State",
    "Task",
    "Trial",
    "TrialState",
    "Verdict",
    "Wish",
]

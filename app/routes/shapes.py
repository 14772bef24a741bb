"""The JSON that routes give, one function a noun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain import Box, Class, DetectionRef, Job, JobEvent, Model, Person, Revision, Run
from backend.jobs import kinds
from backend.jobs.outlook import Outlook
from backend.labels.gallery import GalleryImage

Json = dict[str, Any]


def box(value: Box) -> Json:
    """A box; its class by the name of today, and by what it is."""
    return {
        "id": value.id,
        "x1": value.x1,
        "y1": value.y1,
        "x2": value.x2,
        "y2": value.y2,
        "label": value.label,
        "class_id": value.class_id,
        "origin": value.origin,
        "author": value.author,
        "detection": detection(value.detection),
    }


def detection(value: DetectionRef | None) -> Json | None:
    """The name of a detection."""
    if value is None:
        return None
    return {"run": value.run_id, "image": value.image_id, "idx": value.idx}


def kind(value: Class) -> Json:
    """A class."""
    return {
        "id": value.id,
        "index": value.index,
        "name": value.name,
        "color": value.color,
        "hotkey": value.hotkey,
        "severity": value.severity,
    }


def item(value: GalleryImage) -> Json:
    """An image with all that a page draws of it."""
    image = value.image
    golden = {"id": image.golden_id, "sha256": value.golden_sha256, "lie": list(value.lie)}
    return {
        "id": image.id,
        "name": image.name,
        "sha256": image.sha256,
        "width": image.width,
        "height": image.height,
        "state": image.state,
        "split": image.split,
        "group": image.group,
        "version": image.version,
        "label": image.label,
        "comment": image.comment,
        "author": value.author,
        "golden": image.golden_id and golden,
        "boxes": [box(one) for one in value.boxes],
    }


def revision(value: Revision) -> Json:
    """All that was said of an image at one save."""
    return {
        "image": value.image_id,
        "version": value.version,
        "author": value.author,
        "at": value.at.isoformat(),
        "action": value.action,
        "state": value.state,
        "label": value.label,
        "comment": value.comment,
        "boxes": [box(one) for one in value.boxes],
        "key": value.key,
    }


def person(value: Person) -> Json:
    """Who is asking."""
    return {"name": value.name, "role": value.role}


def job(value: Job) -> Json:
    """A job."""
    return {
        "id": value.id,
        "kind": value.kind,
        "title": kinds.find(value.kind).title,
        "project": value.project_id,
        "state": value.state,
        "attempt": value.attempt,
        "author": value.author,
        "at": value.at.isoformat(),
        "progress": value.progress,
        "message": value.message,
        "error": value.error,
        "result": dict(value.result),
        "started": value.started and value.started.isoformat(),
        "finished": value.finished and value.finished.isoformat(),
        "worker": value.worker,
        "wish": value.wish,
    }


def listed(value: Job) -> Json:
    """A job among others: of its result the figures alone, which are small whatever it did."""
    plain = {k: v for k, v in value.result.items() if not isinstance(v, (dict, list, tuple))}
    return {**job(value), "result": plain}


def standing(value: Job, stands: Outlook) -> Json:
    """A job with its place in the queue and the seconds still to go."""
    return {
        **listed(value),
        "position": stands.position,
        "waits": stands.waits,
        "needs": stands.needs,
        "behind": stands.behind,
    }


def run(value: Run, totals: Mapping[str, int]) -> Json:
    """A run with what it has written so far."""
    return {
        "id": value.id,
        "model": value.model,
        "family": value.family,
        "runtime": value.runtime,
        "purpose": value.purpose,
        "author": value.author,
        "at": value.at.isoformat(),
        "finished": value.finished and value.finished.isoformat(),
        "seconds": value.seconds,
        "source": dict(value.source),
        "facts": {k: v for k, v in value.facts.items() if not isinstance(v, (dict, list))},
        **totals,
    }


def event(value: JobEvent) -> Json:
    """A line of a job's log, or a point of its curves."""
    return {
        "seq": value.seq,
        "at": value.at.isoformat(),
        "level": value.level,
        "text": value.text,
        "data": dict(value.data),
    }


def model(value: Model) -> Json:
    """A trained version."""
    return {
        "id": value.id,
        "name": value.name,
        "family": value.family,
        "state": value.state,
        "classes": list(dict.fromkeys(value.classes)),
        "champion": value.champion,
        "at": value.at.isoformat(),
        "snapshot": value.snapshot_id,
        "parent": value.parent_id,
        "job": value.job_id,
        "parameters": dict(value.parameters),
        "metrics": dict(value.metrics),
    }

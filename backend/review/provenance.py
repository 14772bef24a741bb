"""Where a detection or a label comes from, and where it went: nothing of the chain is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, DetectionRef, Revision
from backend.errors import NotFound
from backend.labels import labelling
from backend.review.deciding import closing, decisions
from backend.storage import findings
from backend.storage.classes import class_names
from backend.storage.tables import (
    DecisionRow,
    ImageRow,
    JobRow,
    ModelRow,
    RunImageRow,
    RunRow,
    SnapshotImageRow,
    SnapshotRow,
)
from backend.storage.types import LARGEST_KEY

CLASS = "class"  # in the place of a box: the class of the whole picture


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the chain, in words, with the facts behind them."""

    what: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


def why(session: Session, name: str) -> list[Link]:
    """The chain of `RUN:IMAGE:NUMBER` (a detection), `IMAGE:BOX` (a label), or `IMAGE:class`."""
    subject = parse(name)
    if isinstance(subject, DetectionRef):
        return list(_of_detection(session, subject))
    if subject[1] == CLASS:
        return list(_of_class(session, subject[0]))
    return list(_of_label(session, *subject))


def parse(name: str) -> DetectionRef | tuple[int, str]:
    """The detection, or the image and the label in it, that a name stands for."""
    parts = name.split(":")
    numbers = parts if len(parts) == 3 else parts[:1]
    if any(part.isdecimal() and int(part[:80]) > LARGEST_KEY for part in numbers):
        raise NotFound(f"There is no detection or label {name[:80]!r}.")
    if len(parts) == 3 and all(part.isdecimal() for part in parts):
        return DetectionRef(*(int(part) for part in parts))
    if len(parts) == 2 and parts[0].isdecimal():
        return int(parts[0]), parts[1]
    raise NotFound(
        f"{name[:80]!r} names neither a detection (RUN:IMAGE:NUMBER) nor a label (IMAGE:BOX)."
    )


def _of_detection(session: Session, ref: DetectionRef) -> Iterator[Link]:
    yield from _found(session, ref)
    yield from _image(session, ref.image)
    yield from _decisions(session, ref)
    box_id = _box_of(session, ref)
    if closing.by_answer(session, ref.run):
        yield from _named(session, ref.image)
    elif box_id:
        yield from _edits(session, ref.image, box_id)
        yield from _forward(session, ref.image, _has(box_id))


def _of_label(session: Session, image_id: int, box_id: str) -> Iterator[Link]:
    versions = _versions(session, image_id, box_id)
    if not versions:
        raise NotFound(f"Image {image_id} never had a label {box_id[:40]!r}.")
    ref = next((box.detection for _, box in versions if box.detection), None)
    # A box of an earlier day may name a run of another project, which is nobody's to see here.
    if ref and session.get(RunRow, ref.run) is None:
        ref = None
    if ref:
        yield from _found(session, ref)
    yield from _image(session, image_id)
    if ref:
        yield from _decisions(session, ref)
    else:
        yield from _missed(session, image_id, box_id)
    yield from _edits(session, image_id, box_id)
    yield from _forward(session, image_id, _has(box_id))


def _of_class(session: Session, image_id: int) -> Iterator[Link]:
    """Of a picture's class: what people decided of the answer that it came from, if of any."""
    decided = select(DecisionRow).filter_by(image_id=image_id, idx=closing.ANSWER)
    last = session.scalar(decided.order_by(DecisionRow.id.desc()).limit(1))
    if last and session.get(RunRow, last.run_id) and closing.by_answer(session, last.run_id):
        yield from _of_detection(session, DetectionRef(last.run_id, image_id, closing.ANSWER))
        return
    yield from _image(session, image_id)
    yield from _named(session, image_id)


def _named(session: Session, image_id: int) -> Iterator[Link]:
    """The classes that a picture was given, and what has learned from the last of them."""
    label = ""
    for revision in reversed(labelling.history(session, image_id)):
        if revision.label == label:
            continue
        label = revision.label
        who = f"{revision.action} by {revision.author or 'nobody named'} on {_when(revision.at)}"
        text = f"{label or 'none'}, {who}, version {revision.version}"
        yield Link("Class", text, {"label": label, "version": revision.version})
    yield from _forward(session, image_id, lambda held: bool(label) and held.label == label)


def _found(session: Session, ref: DetectionRef) -> Iterator[Link]:
    detection = next(
        (
            one
            for one in findings.detections(session, ref.run, [ref.image])[ref.image]
            if one.idx == ref.idx
        ),
        None,
    )
    if detection is None:
        raise NotFound(f"Run {ref.run} has no detection {ref.idx} in image {ref.image}.")
    at = [round(value, 1) for value in (detection.x1, detection.y1, detection.x2, detection.y2)]
    yield Link(
        "Detection",
        f"{detection.label}, score {detection.score:.3f}, corners {at}",
        {"label": detection.label, "score": detection.score, "at": at},
    )
    yield from _stages(session, ref, detection)
    yield from _run(session, ref)


def _stages(session: Session, ref: DetectionRef, detection: Detection) -> Iterator[Link]:
    """What each of two stages had to do with a score; nothing where the detector was alone."""
    seen = session.get(RunImageRow, (ref.run, ref.image))
    told = seen.facts.get(findings.STAGES) if seen else None
    if not told:
        return
    class_id, called, first = told[ref.idx]
    label, share = (
        class_names.of_run(session, ref.run).name(class_id, called),
        detection.score - first,
    )
    facts = {"label": label, "first": first, "share": share}
    yield Link("First stage", f"{label}, score {first:.3f} by the detector alone", facts)
    named = f"; it says {detection.label} for {label}" if detection.label != label else ""
    text = f"moved the score by {share:+.3f}, as it compared the place with the golden{named}"
    yield Link("Second stage", text, facts)


def _run(session: Session, ref: DetectionRef) -> Iterator[Link]:
    run = findings.get(session, ref.run)
    seen = session.get(RunImageRow, (ref.run, ref.image))
    machine = seen.worker if seen else ""
    parameters = {str(name): value for name, value in run.parameters.items()}
    confidence = parameters.get("confidence", parameters.get("conf"))
    words = [f"run {run.id} by {run.model} on {_when(run.at)}"]
    words += [f"runtime {run.runtime}"] if run.runtime else []
    words += [f"threshold {confidence}"] if confidence is not None else []
    words += [f"machine {machine}"] if machine else []
    words += [f"asked by {run.author}"] if run.author else []
    yield Link("Run", ", ".join(words), {"run": run.id, "worker": machine, **parameters})
    yield from _model(session, run.model_id, run.weights)


def _model(session: Session, model_id: int | None, weights: str) -> Iterator[Link]:
    row = session.get(ModelRow, model_id) if model_id is not None else None
    if row is None:
        text = f"weights {weights[:12]}" if weights else "rules over the golden, nothing trained"
        yield Link("Model", text, {"weights": weights})
        return
    text = f"v{row.number} ({row.family}), weights {row.weights[:12]}, {_when(row.at)}"
    yield Link("Model", text, {"model": row.id, "weights": row.weights, "job": row.job_id})
    job = session.get(JobRow, row.job_id) if row.job_id is not None else None
    if job is not None:
        text = f"job {job.id} of {job.author or 'nobody named'} on {job.worker or 'no worker'}"
        yield Link("Training", text, {"job": job.id, "worker": job.worker})
    snapshot = session.get(SnapshotRow, row.snapshot_id) if row.snapshot_id else None
    if snapshot is not None:
        counts = ", ".join(f"{name} {number}" for name, number in snapshot.counts.items())
        text = f"snapshot {snapshot.id} of {_when(snapshot.at)}, seed {snapshot.seed}: {counts}"
        yield Link("Snapshot", text, {"snapshot": snapshot.id, "seed": snapshot.seed})


def _image(session: Session, image_id: int) -> Iterator[Link]:
    row = session.get(ImageRow, image_id)
    if row is None:
        yield Link("Image", f"{image_id}, no longer here", {"image": image_id})
        return
    facts = {"image": row.id, "name": row.name, "sha256": row.sha256}
    yield Link("Image", f"{row.name}, {row.width}×{row.height}, {row.sha256[:12]}", facts)
    golden = session.get(ImageRow, row.golden_id) if row.golden_id else None
    if golden is not None:
        facts = {"image": golden.id, "name": golden.name, "sha256": golden.sha256}
        yield Link("Golden", f"{golden.name}, {golden.sha256[:12]}", facts)


def _decisions(session: Session, ref: DetectionRef) -> Iterator[Link]:
    query = (
        select(DecisionRow)
        .filter_by(run_id=ref.run, image_id=ref.image, idx=ref.idx)
        .order_by(DecisionRow.id)
    )
    yield from (_decision(row) for row in session.scalars(query))


def _missed(session: Session, image_id: int, box_id: str) -> Iterator[Link]:
    query = select(DecisionRow).filter_by(image_id=image_id, idx=None).order_by(DecisionRow.id)
    for row in session.scalars(query):
        if decisions.subject_of(row).box_id == box_id:
            yield _decision(row)


def _decision(row: DecisionRow) -> Link:
    said = row.verdict.replace("_", " ")
    text = f"took back {said}" if row.undoes is not None else said
    facts = {"decision": row.id, "revision": row.revision, "author": row.author}
    text = f"{text} by {row.author} on {_when(row.at)}, {row.seconds:.1f} s, version {row.revision}"
    return Link("Decision", text, facts)


def _box_of(session: Session, ref: DetectionRef) -> str:
    """The label that a detection became, also one that was deleted later."""
    for revision in labelling.history(session, ref.image):
        for box in revision.boxes:
            if box.detection == ref:
                return box.id
    return ""


def _versions(session: Session, image_id: int, box_id: str) -> list[tuple[Revision, Box]]:
    """The revisions in which a label was made or changed, oldest first."""
    found: list[tuple[Revision, Box]] = []
    for revision in reversed(labelling.history(session, image_id)):
        box = next((one for one in revision.boxes if one.id == box_id), None)
        if box and (not found or _differs(found[-1][1], box)):
            found.append((revision, box))
    return found


def _differs(a: Box, b: Box) -> bool:
    return (a.x1, a.y1, a.x2, a.y2, a.label) != (b.x1, b.y1, b.x2, b.y2, b.label)


def _edits(session: Session, image_id: int, box_id: str) -> Iterator[Link]:
    for at, (revision, box) in enumerate(_versions(session, image_id, box_id)):
        corners = [round(value, 1) for value in (box.x1, box.y1, box.x2, box.y2)]
        what = "Edit" if at else "Label"
        who = f"{revision.action} by {revision.author or 'nobody named'} on {_when(revision.at)}"
        text = f"{box.label} {corners}, {box.origin.value}, {who}, version {revision.version}"
        yield Link(what, text, {"box": box_id, "version": revision.version})


def _has(box_id: str) -> Callable[[Revision], bool]:
    return lambda held: any(box.id == box_id for box in held.boxes)


def _forward(session: Session, image_id: int, holds: Callable[[Revision], bool]) -> Iterator[Link]:
    """The snapshots that hold the label as it stood, and the models trained on them."""
    query = (
        select(SnapshotImageRow, SnapshotRow)
        .join(SnapshotRow, SnapshotRow.id == SnapshotImageRow.snapshot_id)
        .where(SnapshotImageRow.image_id == image_id)
        .order_by(SnapshotRow.id)
    )
    for frozen, snapshot in session.execute(query):
        held = labelling.revision(session, image_id, frozen.version)
        if not holds(held):
            continue
        place = f"snapshot {snapshot.id} of {_when(snapshot.at)}"
        text = f"{place}, as {frozen.split}, version {frozen.version}"
        yield Link("Went into", text, {"snapshot": snapshot.id, "version": frozen.version})
        models = select(ModelRow).filter_by(snapshot_id=snapshot.id).order_by(ModelRow.id)
        for model in session.scalars(models):
            text = f"v{model.number} ({model.family}), {model.state}"
            yield Link("Taught", text, {"model": model.id})


def _when(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")

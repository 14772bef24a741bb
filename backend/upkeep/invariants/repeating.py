"""What a row repeats of others, to be counted and sorted by, is what they say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.storage import findings
from backend.storage.tables import LeaseRow, RunRow
from backend.storage.types import now
from backend.upkeep.invariants.rule import Row, Rule

STALE = timedelta(days=1)
NEWEST = "JOIN revision r ON r.image_id = i.id AND r.version = i.version"
# The class that a label of old leads to today.
LABEL = "(SELECT COALESCE(c.merged_into_id, c.id) FROM class c WHERE c.id = {})"
STATE = f"""SELECT i.id, i.version FROM image i {NEWEST}
WHERE i.state <> r.state OR i.author <> r.author OR i.comment <> r.comment
OR COALESCE({LABEL.format("i.label_id")}, 0) <> COALESCE({LABEL.format("r.label_id")}, 0)"""
MEND_STATE = """UPDATE image SET {} WHERE EXISTS
(SELECT 1 FROM revision r WHERE r.image_id = image.id AND r.version = image.version)""".format(
    ", ".join(
        f"{column} = (SELECT {value} FROM revision r "
        "WHERE r.image_id = image.id AND r.version = image.version)"
        for column, value in (
            ("state", "r.state"),
            ("author", "r.author"),
            ("comment", "r.comment"),
            ("label_id", LABEL.format("r.label_id")),
        )
    )
)
COUNT_BOXES = "(SELECT COUNT(*) FROM box b WHERE b.image_id = image.id)"
FOUND = "detection d WHERE d.run_id = run_image.run_id AND d.image_id = run_image.image_id"
COUNT_FOUND = f"(SELECT COUNT(*) FROM {FOUND})"
BEST = f"(SELECT COALESCE(MAX(d.score), 0) FROM {FOUND})"
LARGEST = f"(SELECT COALESCE(MAX((d.x2 - d.x1) * (d.y2 - d.y1)), 0) FROM {FOUND})"
# Where a picture has one answer, its doubt is that between the classes, as its facts have them.
DOUBT = f"""(CASE WHEN run_image.facts LIKE '%"{findings.CHANCES}"%' THEN run_image.doubt
ELSE (SELECT COALESCE(MAX(1 - ABS(2 * d.score - 1)), 0) FROM {FOUND}) END)"""
OF_RUNS = """run_image s JOIN run ON run.id = s.run_id
WHERE s.image_id = image.id AND run.project_id = image.project_id
AND run.source NOT LIKE '%"path":%'"""


def _miscounted(session: Session) -> Iterator[Row]:
    for run in session.scalars(select(RunRow).where(RunRow.finished.is_not(None))):
        there = findings.counts(session, run.id)
        images = there[findings.COUNTED]["images"]
        kept = {name: run.facts.get(name, counts) for name, counts in there.items()}
        if run.images != images or any(_sorted(kept[n]) != _sorted(there[n]) for n in there):
            yield {"id": run.id}


def _sorted(counts: Any) -> list[str]:
    """Kept in any order; what JSON keeps of a tuple is a list."""
    return sorted(map(str, counts.items() if isinstance(counts, dict) else map(list, counts)))


def _recount(session: Session) -> None:
    for row in list(_miscounted(session)):
        findings.recount(session, row["id"])


def _stale(session: Session) -> Iterator[Row]:
    query = select(LeaseRow).where(LeaseRow.until < now() - STALE)
    for row in session.scalars(query):
        yield {"image": row.image_id, "run": row.run_id, "author": row.author or "somebody"}


def _end_stale(session: Session) -> None:
    session.execute(delete(LeaseRow).where(LeaseRow.until < now() - STALE))


RULES = (
    Rule(
        "state-of-image",
        "Image {id} does not say what its newest revision, version {version}, says.",
        STATE,
        MEND_STATE,
    ),
    Rule(
        "new-is-bare",
        "Image {id} has no revision, but is {state}.",
        "SELECT id, state FROM image WHERE version = 0 "
        "AND (state <> 'new' OR label_id IS NOT NULL OR comment <> '')",
    ),
    Rule(
        "boxes-of-image",
        "Image {id} says that it has {said} boxes; there are {there}.",
        f"SELECT id, box_count AS said, {COUNT_BOXES} AS there FROM image "
        f"WHERE box_count <> {COUNT_BOXES}",
        f"UPDATE image SET box_count = {COUNT_BOXES} WHERE box_count <> {COUNT_BOXES}",
    ),
    Rule(
        "doubt-of-image",
        "Image {id} has the doubt {doubt}, which no run has found.",
        f"""SELECT id, doubt FROM image WHERE doubt IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM {OF_RUNS} AND ABS(s.doubt - image.doubt) < 0.001)""",
        f"""UPDATE image SET doubt = (SELECT s.doubt FROM {OF_RUNS} ORDER BY s.run_id DESC LIMIT 1)
WHERE doubt IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM {OF_RUNS} AND ABS(s.doubt - image.doubt) < 0.001)""",
    ),
    Rule(
        "detections-of-image",
        "Image {image_id} in run {run_id} says {said} detections; there are {there}.",
        f"SELECT run_id, image_id, detection_count AS said, {COUNT_FOUND} AS there "
        f"FROM run_image WHERE detection_count <> {COUNT_FOUND}",
        f"UPDATE run_image SET detection_count = {COUNT_FOUND} "
        f"WHERE detection_count <> {COUNT_FOUND}",
    ),
    Rule(
        "order-of-review",
        "Image {image_id} in run {run_id} is sorted by figures that its detections do not have.",
        f"SELECT run_id, image_id FROM run_image WHERE ABS(best - {BEST}) > 0.001 "
        f"OR ABS(doubt - {DOUBT}) > 0.001 OR ABS(largest - {LARGEST}) > 0.01",
        f"UPDATE run_image SET best = {BEST}, doubt = {DOUBT}, largest = {LARGEST}",
    ),
    Rule(
        "counts-of-run",
        "Run {id} says that it has other images and detections than are there.",
        _miscounted,
        _recount,
    ),
    Rule(
        "events-of-job",
        "Job {id} says that it has told {said} things; the last one is {there}.",
        "SELECT j.id, j.event_count AS said, MAX(e.seq) AS there FROM job j "
        "JOIN job_event e ON e.job_id = j.id GROUP BY j.id, j.event_count "
        "HAVING MAX(e.seq) > j.event_count",
        "UPDATE job SET event_count = (SELECT MAX(e.seq) FROM job_event e WHERE e.job_id = job.id) "
        "WHERE event_count < (SELECT MAX(e.seq) FROM job_event e WHERE e.job_id = job.id)",
    ),
    Rule(
        "end-of-job",
        "Job {id} is {state}, but its end says otherwise.",
        "SELECT id, state FROM job "
        "WHERE (state IN ('done', 'failed', 'cancelled')) <> (finished IS NOT NULL)",
    ),
    Rule(
        "stale-lease",
        "Image {image} of run {run} is still kept for {author}, whose time ended a day ago.",
        _stale,
        _end_stale,
    ),
)

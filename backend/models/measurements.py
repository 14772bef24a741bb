"""The figures of evaluations and benchmarks as rows, for whoever asks in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from backend.storage import engine
from backend.storage.classes.figures import MARK
from backend.storage.tables import MetricRow

OVERALL = 0  # in place of a class
Figure = tuple[str, int, float]


def keep(session: Session, job_id: int, model_id: int | None, figures: Mapping[str, Any]) -> None:
    """Keep all numbers of a measurement; those of an earlier attempt of the job go.

    The figures are as they are kept: by the ids of classes.
    """
    session.execute(delete(MetricRow).where(MetricRow.job_id == job_id))
    split = str(figures.get("split", ""))
    rows = [
        {
            "job_id": job_id,
            "name": name,
            "class_id": class_id,
            "model_id": model_id,
            "split": split,
            "value": value,
        }
        for name, class_id, value in _figures(figures)
    ]
    engine.bulk_insert(session, MetricRow, rows)


def _figures(figures: Mapping[str, Any]) -> Iterator[Figure]:
    yield from _numbers(figures, OVERALL)
    for kept, of_class in figures.get("per_class", {}).items():
        if kept.startswith(MARK):
            yield from _numbers(of_class, int(kept.removeprefix(MARK)))
    for one in figures.get("runtimes", ()):
        yield from _numbers(one, OVERALL, f"{one['runtime']} {one['precision']} ")


def _numbers(figures: Mapping[str, Any], class_id: int, before: str = "") -> Iterator[Figure]:
    for name, value in figures.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{before}{name}", class_id, float(value)

"""Trainings in mlflow, for who compares runs there: written once, when a training is done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.domain import JobEvent, Model
from backend.jobs import journal
from backend.projects import catalogue
from backend.settings import Settings
from workers.context import Context

OFF = "off"
DEFAULT = "default"
# What one call to a tracking server may hold.
METRICS, PARAMS = 1000, 100


def record(context: Context, model: Model, weights: Path, facts: Mapping[str, Any]) -> None:
    """Write the run; a tracking store that fails costs a line in the log, not the training."""
    if context.settings.mlflow_uri == OFF:
        return
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from mlflow import exceptions

    try:
        _write(context, model, weights, facts)
    except (exceptions.MlflowException, OSError) as error:
        context.log(f"The run could not be written to mlflow: {error}")


def uri(settings: Settings) -> str:
    """The tracking store that the settings name."""
    if settings.mlflow_uri == DEFAULT:
        return f"sqlite:///{settings.home / 'mlflow.db'}"
    return settings.mlflow_uri


def _write(context: Context, model: Model, weights: Path, facts: Mapping[str, Any]) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

    client = MlflowClient(tracking_uri=uri(context.settings))
    with context.database.read() as session:
        name = catalogue.get(session, model.project_id).name
        events = journal.read(session, context.job.id, limit=100_000)
    run = _run(client, _experiment(client, context.settings, name), model, events)
    params = [Param(key, str(value)[:500]) for key, value in model.parameters.items()]
    tags = [RunTag(key, str(value)) for key, value in _tags(context, model, facts).items()]
    client.log_batch(run, params=params[:PARAMS], tags=tags)
    metrics = [Metric(*point) for point in [*_curves(events), *_figures(model, facts, events)]]
    for start in range(0, len(metrics), METRICS):
        client.log_batch(run, metrics=metrics[start : start + METRICS])
    client.log_artifact(run, str(weights), "model")
    client.set_terminated(run, "FINISHED")


def _experiment(client: Any, settings: Settings, name: str) -> str:
    known = client.get_experiment_by_name(name)
    if known is not None:
        return str(known.experiment_id)
    own = settings.mlflow_uri == DEFAULT
    place = (settings.home / "mlruns").as_uri() if own else None
    return str(client.create_experiment(name, artifact_location=place))


def _run(client: Any, experiment: str, model: Model, events: Iterable[JobEvent]) -> str:
    """A run of its own, also when an attempt that was killed had begun to write one."""
    for old in client.search_runs([experiment], f"tags.`loupe.model` = '{model.id}'"):
        client.delete_run(old.info.run_id)
    began = min((_moment(event) for event in events), default=None)
    made = client.create_run(experiment, start_time=began, run_name=model.name)
    return str(made.info.run_id)


def _tags(context: Context, model: Model, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "loupe.model": model.id,
        "loupe.job": context.job.id,
        "loupe.weights": model.weights,
        "mlflow.user": context.job.author or "loupe",
        "family": model.family,
        "snapshot": model.snapshot_id,
        "cluster": facts.get("cluster"),
        "devices": facts.get("devices"),
        "workers": model.parameters.get("workers", 1),
        "code": facts.get("code"),
        "node_types": facts.get("machine"),
    }


def _curves(events: Iterable[JobEvent]) -> Iterable[tuple[str, float, int, int]]:
    """Every figure of every epoch, at the moment it was told."""
    for event in events:
        epoch = event.data.get("epoch")
        for key, value in event.data.items():
            if epoch is not None and key not in ("epoch", "epochs") and _is_number(value):
                yield key, float(value), _moment(event), int(epoch)


def _figures(
    model: Model, facts: Mapping[str, Any], events: list[JobEvent]
) -> Iterable[tuple[str, float, int, int]]:
    """What was measured at the end."""
    last = _moment(events[-1]) if events else 0
    for key, value in {**model.metrics, "duration": facts.get("seconds")}.items():
        if _is_number(value):
            yield f"held_out_{key}" if key in model.metrics else key, float(value), last, 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _moment(event: JobEvent) -> int:
    return int(event.at.timestamp() * 1000)

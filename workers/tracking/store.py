"""mlflow's store as we use it: each call may be made twice and leaves what one would.

Import of mlflow takes seconds, so it happens where a store is opened.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.domain import JobState
from backend.settings import Settings

DEFAULT = "default"
MARK = "loupe.run"
CHAMPION = "champion"
# What one call to a store may hold.
METRICS, PARAMS, LONGEST = 1000, 100, 500
# mlflow itself would try for minutes, each time; here it is tried again anyway.
PATIENCE = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_UV_AUTO_DETECT": "false",  # it would take the uv project of the folder that it is in
}
STATES = {
    JobState.QUEUED: "SCHEDULED",
    JobState.PAUSED: "SCHEDULED",
    JobState.RUNNING: "RUNNING",
    JobState.DONE: "FINISHED",
    JobState.FAILED: "FAILED",
    JobState.CANCELLED: "KILLED",
}
# What a store says where asking again cannot help.
FOR_GOOD = {
    "INVALID_PARAMETER_VALUE",
    "INVALID_STATE",
    "RESOURCE_DOES_NOT_EXIST",
    "BAD_REQUEST",
}
Point = tuple[str, float, int, int]


def uri(settings: Settings) -> str:
    """The store that the settings name."""
    if settings.mlflow_uri == DEFAULT:
        return f"sqlite:///{settings.home / 'mlflow.db'}"
    return settings.mlflow_uri


def place(settings: Settings) -> str:
    """What tells one store from all others: a file is another one on each machine."""
    where = uri(settings)
    return f"{platform.node()} {where}" if where.startswith("sqlite:") else where


def is_for_good(error: Exception) -> bool:
    """Whether a store has refused what it will always refuse."""
    return getattr(error, "error_code", "") in FOR_GOOD


class Store:
    """One store, through mlflow's own client."""

    def __init__(self, settings: Settings) -> None:
        for name, value in PATIENCE.items():
            os.environ.setdefault(name, value)
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        from mlflow import MlflowClient

        self.settings, self.uri = settings, uri(settings)
        self.client: Any = MlflowClient(tracking_uri=self.uri)

    def open_run(
        self, project: str, mark: str, name: str, began: datetime, parent: str = ""
    ) -> str:
        """The run of that mark, begun where there is none yet."""
        home = self._experiment(project)
        if known := self.client.search_runs([home], f"tags.`{MARK}` = '{mark}'"):
            return str(known[0].info.run_id)
        tags = {MARK: mark, **({"mlflow.parentRunId": parent} if parent else {})}
        made = self.client.create_run(home, start_time=moment(began), tags=tags, run_name=name)
        return str(made.info.run_id)

    def say(self, run: str, params: Mapping[str, Any], tags: Mapping[str, Any]) -> None:
        """Parameters, which never change, and tags, which may."""
        from mlflow.entities import Param, RunTag

        said = [Param(_plain(name), str(value)[:LONGEST]) for name, value in params.items()]
        marks = [RunTag(_plain(name), str(value)[:LONGEST]) for name, value in tags.items()]
        for start in range(0, max(len(said), 1), PARAMS):
            self.client.log_batch(run, params=said[start : start + PARAMS])
        self.client.log_batch(run, tags=marks[:PARAMS])

    def learns_from(self, run: str, name: str, digest: str, about: Mapping[str, Any]) -> None:
        """The snapshot, as mlflow knows what a run reads."""
        import json

        from mlflow.entities import Dataset, DatasetInput, InputTag

        told = json.dumps(dict(about))
        read = Dataset(name, digest[:36], "loupe", told, profile=told)
        self.client.log_inputs(
            run, [DatasetInput(read, [InputTag("mlflow.data.context", "train")])]
        )

    def measured(self, run: str, points: Iterable[Point]) -> None:
        """Points of curves: name, value, moment, step."""
        from mlflow.entities import Metric

        told = [Metric(_plain(name), value, at, step) for name, value, at, step in points]
        for start in range(0, len(told), METRICS):
            self.client.log_batch(run, metrics=told[start : start + METRICS])

    def keep(self, run: str, folder: Path) -> None:
        """All files of a folder."""
        self.client.log_artifacts(run, str(folder))

    def register(self, project: str, run: str, about: str) -> tuple[str, str]:
        """The run's model as a version of the project's; its name and number."""
        name = registered(project)
        if not self.client.search_registered_models(f"name = '{_quoted(name)}'"):
            self.client.create_registered_model(name)
        known = self.client.search_model_versions(f"run_id = '{run}'")
        if known:
            return name, str(known[0].version)
        root = self.client.get_run(run).info.artifact_uri
        made = self.client.create_model_version(
            name, f"{root}/model", run_id=run, description=about, await_creation_for=None
        )
        return name, str(made.version)

    def crown(self, name: str, version: str, reigns: bool) -> None:
        """Let the champion's name lead to this version, or no longer to it."""
        if reigns:
            self.client.set_registered_model_alias(name, CHAMPION, version)
            return
        aliases = self.client.get_registered_model(name).aliases
        if str(aliases.get(CHAMPION, "")) == version:
            self.client.delete_registered_model_alias(name, CHAMPION)

    def conclude(self, run: str, state: JobState, ended: datetime | None) -> None:
        """How the run stands; one that goes on is no longer ended."""
        if ended is None:
            self.client.update_run(run, status=STATES[state])
        else:
            self.client.set_terminated(run, STATES[state], moment(ended))

    def _experiment(self, name: str) -> str:
        known = self.client.get_experiment_by_name(name)
        if known is not None:
            return str(known.experiment_id)
        file = self.uri.startswith("sqlite:")
        place = (self.settings.home / "mlruns").as_uri() if file else None
        return str(self.client.create_experiment(name, artifact_location=place))


def registered(project: str) -> str:
    """The name of a project's models; mlflow takes neither / nor : in one."""
    return project.replace("/", "-").replace(":", "-")[:250]


def moment(at: datetime) -> int:
    """Milliseconds, as mlflow counts."""
    return int(at.timestamp() * 1000)


def _plain(name: str) -> str:
    """Letters, digits and a few marks are what the name of a figure may have."""
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name)[:250]


def _quoted(name: str) -> str:
    return name.replace("'", "''")

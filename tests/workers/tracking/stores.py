"""A database with trainings that need no minutes, and stores of mlflow, real ones."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Run

from backend.domain import Job, Project
from backend.errors import Refused
from backend.jobs import claims, holder, journal
from backend.jobs.lanes import Lane
from backend.labels import samples
from backend.models import registry, snapshots, trainings
from backend.models.trainings import Started
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from workers.families import golden
from workers.families.base import Picture
from workers.families.golden import golden_file
from workers.tracking import pyfunc
from workers.tracking.telling import Teller

WORKER = holder.me()
CLASSES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
CONFUSION = {"labels": ["open", "background"], "matrix": [[3, 1], [0, 0]]}


@dataclass(frozen=True)
class Tracking:
    """A home whose trainings are told to a store."""

    database: Database
    files: Files
    settings: Settings

    def sample(self) -> Project:
        """A project of drawn boards."""
        drawn = samples.draw(self.files, "pcb", 12, seed=5)
        with self.database.write.begin() as session:
            return samples.create(session, "boards", "pcb", drawn)

    def retrain(self, project: Project, **parameters: Any) -> Started:
        """A click on Retrain."""
        with self.database.write.begin() as session:
            return trainings.retrain(
                session, project.id, "golden", seed=1, parameters=parameters, author="ana"
            )

    def claim(self) -> Job:
        """A worker takes the training."""
        with self.database.write.begin() as session:
            job = claims.claim(session, WORKER, Lane.LONG)
        assert job is not None
        return job

    def epochs(self, job: Job, *numbers: int) -> None:
        """What a training tells of these epochs."""
        with self.database.write.begin() as session:
            for epoch in numbers:
                data = {"epoch": epoch, "epochs": 9, "loss": 1 / epoch, "learning_rate": 0.01}
                journal.write(session, job.id, f"Epoch {epoch} of 9", data=data)

    def finish(self, started: Started, job: Job) -> None:
        """The training is done: what it has made knows the rules of its family."""
        with self.database.read() as session:
            classes = registry.get(session, started.model.id).classes
        made = self.settings.home / "golden.npz"
        golden_file.write(golden.untrained(classes), made)
        weights = self.files.put_file(made)
        with self.database.write.begin() as session:
            figures = {"map50": 0.5, "images": 4, "confusion": CONFUSION}
            registry.complete(session, started.model.id, weights, figures)
            claims.finish(session, job, {})

    def pictures(self) -> tuple[Path, Path]:
        """A board and its golden."""
        with self.database.read() as session:
            first = next(iter(snapshots.images(session, 1)))
        hashes = first.sha256, first.golden_sha256
        image, board = (self.files.local_path(one) for one in hashes)
        return image, board

    def boxes(self) -> list[list[float]]:
        """What the champion finds in that board: classes by number, and corners."""
        image, board = (cv2.imread(str(path)) for path in self.pictures())
        model = golden_file.read(self.settings.home / "golden.npz")
        (found,) = model.predict([Picture(np.asarray(image), np.asarray(board))])
        assert not isinstance(found, Refused)
        kept = found[found[:, 4] >= pyfunc.LEAST_SCORE]
        assert model.classes == CLASSES
        return [[row[5], *row[:4]] for row in kept.tolist()]

    def promote(self, started: Started) -> None:
        """Make the model the champion."""
        with self.database.write.begin() as session:
            registry.promote(session, started.model.id)

    def tell(self) -> None:
        """All that is new, until there is no news."""
        Teller(self.database, self.settings, self.files, look=0.1, idle=0.3).run()

    def until_told(self, name: str) -> None:
        """Wait until the store has a figure of that run, while another thread tells."""
        end = time.monotonic() + 120
        while not any(run.data.metrics for run in self.runs(name)):
            assert time.monotonic() < end
            time.sleep(0.1)

    def client(self) -> MlflowClient:
        """mlflow's own client of the store."""
        return MlflowClient(tracking_uri=self.settings.mlflow_uri)

    def run(self, name: str = "v1") -> Run:
        """The one run of that name."""
        (found,) = self.runs(name)
        return found

    def runs(self, name: str) -> list[Run]:
        """The runs of that name."""
        client = self.client()
        return [
            run
            for experiment in client.search_experiments()
            for run in client.search_runs([experiment.experiment_id])
            if run.info.run_name == name
        ]

    def curve(self, name: str) -> list[tuple[int, float]]:
        """The points of a curve of v1."""
        told = self.client().get_metric_history(self.run().info.run_id, name)
        return sorted((one.step, one.value) for one in told)


def losses(*epochs: int) -> list[tuple[int, float]]:
    """The curve that these epochs leave."""
    return [(epoch, 1 / epoch) for epoch in epochs]


def beside(database: Database, files: Files, folder: Path, empty: Path) -> Tracking:
    """A home with a store in a file beside it, copied from one in which nothing is."""
    shutil.copy(empty, folder / "mlflow.db")
    uri = f"sqlite:///{folder / 'mlflow.db'}"
    return Tracking(database, files, Settings(home=folder, mlflow_uri=uri))


class Server:
    """mlflow's own server in front of a file."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.folder = folder
        shutil.copy(empty, folder / "served.db")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """Where it listens, or will."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "mlflow", "ui", "--workers", "1"),
                *("--host", "127.0.0.1", "--port", str(self.port)),
                *("--backend-store-uri", f"sqlite:///{self.folder / 'served.db'}"),
                *("--artifacts-destination", str(self.folder / "served")),
            ],
            start_new_session=True,
            env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 300
        while not self._answers():
            assert time.monotonic() < end
            time.sleep(0.2)

    def signal(self, number: int) -> None:
        """Send a signal to all its processes."""
        assert self.process is not None
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def serving(folder: Path, empty: Path) -> Iterator[Server]:
    """A server that is not started yet, and is gone at the end."""
    server = Server(folder, empty)
    try:
        yield server
    finally:
        server.kill()

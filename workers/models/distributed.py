"""The same training loop in one process or, through Ray Train, in many that share the gradients.

One worker on this machine runs the loop directly: its first loss shows in seconds. More workers,
or a cluster of one's own (LOUPE_RAY_ADDRESS), go through Ray Train, which makes the process group,
restarts all after one has died, and releases everything at the end. The caller may have joined a
Ray cluster; otherwise it is joined here. All nodes must see the task's folder and pictures.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections import deque
from collections.abc import Mapping
from typing import Any

from backend import settings
from backend.errors import LoupeError, Unavailable
from workers.models import offline, training
from workers.models.base import Reporter
from workers.models.training import Loop, Place, Task

log = logging.getLogger(__name__)
RETRIES = 2
Letter = tuple[str, tuple[Any, ...]]


def run(loop: Loop, task: Task, reporter: Reporter) -> Mapping[str, Any]:
    """The leader's figures. What the reporter raises ends the training in all processes."""
    if task.parameters.workers == 1 and not settings.current().ray_address:
        place = Place(device=training.device(), threads=training.threads())
        return loop(task, place, reporter)
    return _on_ray(loop, task, reporter)


def _on_ray(loop: Loop, task: Task, reporter: Reporter) -> Mapping[str, Any]:
    import ray

    _join()
    _check_size(task.parameters.workers)
    mailbox = ray.remote(Mailbox).options(num_cpus=0, max_concurrency=4).remote()
    fit = ray.remote(_fit).options(num_cpus=0, max_retries=0).remote(loop, task, mailbox)
    reporter.progress(0.0, f"Starting {task.parameters.workers} training processes.")
    try:
        return _follow(fit, mailbox, reporter)
    finally:
        ray.cancel(fit, force=True, recursive=True)
        ray.kill(mailbox)


def _follow(fit: Any, mailbox: Any, reporter: Reporter) -> Mapping[str, Any]:
    """Pass on what the leader writes until the training ends, asking each time whether to stop."""
    import ray

    last: tuple[Any, ...] = (0.0, "Starting the training processes.")
    while True:
        done, _ = ray.wait([fit], timeout=0.3)
        for kind, content in ray.get(mailbox.take.remote()):
            if kind == "refused":
                raise content[0]
            last = content if kind == "progress" else last
            getattr(reporter, kind)(*content)
        if done:
            return _result(fit)
        reporter.progress(*last)


def _result(fit: Any) -> Mapping[str, Any]:
    import ray

    try:
        figures: Mapping[str, Any] = ray.get(fit)
    except ray.exceptions.RayError as error:
        raise Unavailable(f"The training processes failed: {_cause(error)}") from error
    return figures


def _cause(error: BaseException) -> str:
    """The last line of the deepest traceback: what went wrong, without how Ray got there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _fit(loop: Loop, task: Task, mailbox: Any) -> Mapping[str, Any]:
    """A Ray task of its own, so that cancelling it takes the whole training down with it."""
    from ray import train
    from ray.train import torch as train_torch

    gpu = training.device() != "cpu" or _cluster_has("GPU")
    trainer = train_torch.TorchTrainer(
        _enter,
        train_loop_config={"loop": loop, "task": task, "mailbox": mailbox},
        scaling_config=train.ScalingConfig(
            num_workers=task.parameters.workers, use_gpu=gpu, resources_per_worker=_share(gpu)
        ),
        torch_config=train_torch.TorchConfig(backend="nccl" if gpu else "gloo"),
        run_config=train.RunConfig(
            name="ray",
            storage_path=str(task.folder),
            failure_config=train.FailureConfig(max_failures=RETRIES),
        ),
    )
    figures: Mapping[str, Any] = trainer.fit().return_value or {}
    return figures


def _enter(config: dict[str, Any]) -> Mapping[str, Any]:
    """One of Ray Train's processes; our own errors go to the mailbox, as Ray would retry them."""
    from ray import train
    from ray.train import torch as train_torch

    os.environ.update(offline.environment())
    context = train.get_context()
    place = Place(
        rank=context.get_world_rank(),
        count=context.get_world_size(),
        device=str(train_torch.get_device()),
        threads=training.threads(context.get_local_world_size()),
    )
    by_post = ByPost(config["mailbox"])
    try:
        figures: Mapping[str, Any] = config["loop"](
            config["task"], place, by_post if place.leads else training.Silent()
        )
    except LoupeError as error:
        by_post.send("refused", error)
        raise
    return figures


class Mailbox:
    """An actor between the leader and the process that follows the training."""

    def __init__(self) -> None:
        self.letters: deque[Letter] = deque()

    def put(self, letter: Letter) -> None:
        """Add a letter; of two reports of progress in a row only the newer one stays."""
        if letter[0] == "progress" and self.letters and self.letters[-1][0] == "progress":
            self.letters.pop()
        self.letters.append(letter)

    def take(self) -> list[Letter]:
        """All letters, oldest first."""
        taken = list(self.letters)
        self.letters.clear()
        return taken


class ByPost:
    """The reporter of the leading process: writes to the mailbox and goes on."""

    def __init__(self, mailbox: Any) -> None:
        self.mailbox = mailbox

    def send(self, kind: str, *content: Any) -> None:
        """Post a letter and wait until it is there."""
        import ray

        ray.get(self.mailbox.put.remote((kind, content)))

    def progress(self, fraction: float, message: str) -> None:
        """How far it is."""
        self.mailbox.put.remote(("progress", (fraction, message)))

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """One epoch is done."""
        self.send("epoch", epoch, epochs, dict(figures))

    def log(self, text: str) -> None:
        """A line for the log."""
        self.send("log", text)


def _join() -> None:
    """Join the cluster that the settings name, or start a local one, unless one is joined."""
    import ray

    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        address=settings.current().ray_address or "local",
        log_to_driver=False,
        logging_level="ERROR",
        include_dashboard=False,
    )


def _check_size(workers: int) -> None:
    """More processes than the cluster has room for would wait for ever."""
    room = int(_resources().get("GPU" if _cluster_has("GPU") else "CPU", 0))
    if workers > room:
        raise Unavailable(
            f"The cluster has room for {room} training processes, not for {workers}: "
            "ask for fewer workers or add nodes."
        )


def _share(gpu: bool) -> dict[str, float]:
    return {"GPU": 1, "CPU": 1} if gpu else {"CPU": 1}


def _cluster_has(resource: str) -> bool:
    return _resources().get(resource, 0) > 0


def _resources() -> Mapping[str, float]:
    import ray

    with contextlib.suppress(ray.exceptions.RayError):
        return dict(ray.cluster_resources())
    return {}

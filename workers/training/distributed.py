"""The same training loop in one process or, through Ray Train, in many that share the gradients.

One worker on this machine runs the loop directly: its first loss shows in seconds. More workers,
or a cluster of one's own (LOUPE_RAY_ADDRESS), go through Ray Train, which makes the process group,
restarts all after one has died, and releases everything at the end. The caller may have joined a
Ray cluster; otherwise it is joined here. All nodes must see the task's folder and pictures.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

from backend import settings
from backend.errors import LoupeError, Unavailable
from workers import cluster, offline
from workers.families.base import Reporter, Trained
from workers.training import basics
from workers.training.basics import Loop, Place, TrainingTask
from workers.training.mailbox import Mailbox

RETRIES = 2
LOOK_UP = 0.6  # seconds between looks into the mailbox
# Ray looks every two seconds whether a training has ended, and starts watchers that nobody reads.
QUICK = {
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_TRAIN_METRICS_ENABLED": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
}


def train(loop: Loop, task: TrainingTask, reporter: Reporter) -> Trained:
    """Say where it starts, run the loop, and name the weights that it leaves."""
    begun = f"from {task.start.name}" if task.start else "from scratch, knowing nothing"
    reporter.log(f"Starts {begun}.")
    return Trained(task.folder / "model.safetensors", run(loop, task, reporter))


def run(loop: Loop, task: TrainingTask, reporter: Reporter) -> Mapping[str, Any]:
    """The leader's figures. What the reporter raises ends the training in all processes."""
    if task.parameters.workers == 1 and not settings.current().ray_address:
        place = Place(device=basics.device(), threads=basics.threads())
        return loop(task, place, reporter)
    return _on_ray(loop, task, reporter)


def _on_ray(loop: Loop, task: TrainingTask, reporter: Reporter) -> Mapping[str, Any]:
    ray = cluster.connect(settings.current().ray_address or "local")
    from ray.train.v2.api.exceptions import TrainingFailedError

    gpu = ray.cluster_resources().get("GPU", 0) > 0
    _check_room(ray, task.parameters.workers, "GPU" if gpu else "CPU")
    reporter.progress(0.0, f"Starting {task.parameters.workers} training processes.")
    os.environ.update(QUICK)
    mailbox = ray.remote(Mailbox).options(num_cpus=0).remote()
    try:
        follow = functools.partial(_follow, mailbox, reporter)
        trainer = _trainer(
            functools.partial(_enter, loop, task, mailbox), task, gpu, mailbox, follow
        )
        figures: Mapping[str, Any] = trainer.fit().return_value or {}
    except (ray.exceptions.RayError, TrainingFailedError) as error:
        raise Unavailable(f"The training processes failed: {_last_line(error)}") from error
    finally:
        ray.kill(mailbox)
    return figures


def _trainer(
    enter: Callable[[], Any],
    task: TrainingTask,
    gpu: bool,
    mailbox: Any,
    follow: Callable[[Any], None],
) -> Any:
    from ray import train
    from ray.train import torch as train_torch

    from workers.training import controller

    return controller.StoppableTrainer(
        mailbox,
        follow,
        enter,
        scaling_config=train.ScalingConfig(
            num_workers=task.parameters.workers,
            use_gpu=gpu,
            resources_per_worker={"GPU": 1, "CPU": 1} if gpu else {"CPU": 1},
        ),
        torch_config=train_torch.TorchConfig(backend="nccl" if gpu else "gloo"),
        run_config=train.RunConfig(
            name="ray",
            storage_path=str(task.folder),
            failure_config=train.FailureConfig(max_failures=RETRIES),
        ),
    )


def _follow(mailbox: Any, reporter: Reporter, running: Any) -> None:
    """Pass on what the leader writes until the training ends, asking each time whether to stop."""
    import ray

    last: tuple[Any, ...] = (0.0, "Starting the training processes.")
    while True:
        done, _ = ray.wait([running], timeout=LOOK_UP)
        for kind, content in ray.get(mailbox.take.remote()):
            if kind == "refused":
                raise content[0]
            last = content if kind == "progress" else last
            getattr(reporter, kind)(*content)
        if done:
            return
        reporter.progress(*last)


def _enter(loop: Loop, task: TrainingTask, mailbox: Any) -> Mapping[str, Any]:
    """One of Ray Train's processes; our own errors go to the mailbox, as Ray would retry them."""
    from ray import train
    from ray.train import torch as train_torch

    os.environ.update(offline.environment())
    context = train.get_context()
    place = Place(
        rank=context.get_world_rank(),
        count=context.get_world_size(),
        device=str(train_torch.get_device()),
        threads=basics.threads(context.get_local_world_size()),
    )
    by_post = ByPost(mailbox)
    try:
        return loop(task, place, by_post if place.leads else basics.Silent())
    except LoupeError as error:
        by_post.send("refused", error)
        raise


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


def _check_room(ray: Any, workers: int, resource: str) -> None:
    """More processes than the cluster has room for would wait for ever."""
    room = int(ray.cluster_resources().get(resource, 0))
    if workers > room:
        raise Unavailable(
            f"The cluster has room for {room} training processes, not for {workers}: "
            "ask for fewer workers or add nodes."
        )


def _last_line(error: BaseException) -> str:
    """What went wrong, without how Ray got there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__

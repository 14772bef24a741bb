"""The same training loop in one process or, through Ray Train, in many that share the gradients.

One worker on this machine runs the loop directly: its first loss shows in seconds. More workers,
or a cluster of one's own (LOUPE_RAY_ADDRESS), go through Ray Train, which makes the process group,
restarts all after one has died, and releases everything at the end. The caller may have joined a
Ray cluster; otherwise it is joined here. All nodes must see the task's folder and pictures.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from backend import settings
from backend.errors import LoupeError, Unavailable
from backend.jobs import needs
from backend.jobs.needs import Need
from backend.words import many
from workers import cluster, offline
from workers.demand import names, reservation
from workers.demand.reservation import Reservation
from workers.families.base import Reporter, Trained
from workers.training import basics
from workers.training.basics import Loop, Place, TrainingTask
from workers.training.mailbox import Mailbox

RETRIES = 2
PROCESSES = "training processes"
LOOK_UP = 0.6  # seconds between looks into the mailbox
LOOK_AROUND = 5.0  # seconds between looks at whether all that was reserved still stands
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
    given = task.parameters
    if given.workers == 1 and not given.nodes and not settings.current().ray_address:
        place = Place(device=basics.device(task.parameters.device), threads=basics.threads())
        return loop(task, place, reporter)
    return _on_ray(loop, task, reporter)


def _on_ray(loop: Loop, task: TrainingTask, reporter: Reporter) -> Mapping[str, Any]:
    """Reserve what the training needs, and release it however the training ends."""
    ray = cluster.connect(settings.current().ray_address or "local")
    asked = task.parameters
    cores = max(1, asked.cores)
    need = Need(asked.device, asked.workers, asked.memory_gb, cores, asked.nodes)
    with reservation.reserved(ray, need, functools.partial(reporter.progress, 0.0)) as held:
        reporter.log(f"The cluster gives {held.need}.")
        return {**_in(held, loop, task, reporter), "placed": held.placed()}


def _in(held: Reservation, loop: Loop, task: TrainingTask, reporter: Reporter) -> Mapping[str, Any]:
    from ray.train.v2.api.exceptions import TrainingFailedError

    reporter.progress(0.0, f"Starting {many(held.need.count, 'training process', PROCESSES)}.")
    os.environ.update(QUICK)
    name = names.named(held.ray, "what the training says")
    mailbox = held.ray.remote(Mailbox).options(num_cpus=0, name=name).remote()
    follow = functools.partial(_follow, mailbox, reporter, held)
    try:
        enter = functools.partial(_enter, loop, task, mailbox)
        figures: Mapping[str, Any] = _trainer(enter, task, held, follow).fit().return_value or {}
    except (held.ray.exceptions.RayError, TrainingFailedError) as error:
        raise Unavailable(f"The training processes failed: {_last_line(error)}") from error
    finally:
        held.ray.kill(mailbox)
    return figures


def _trainer(
    enter: Callable[[], Any],
    task: TrainingTask,
    held: Reservation,
    follow: Callable[[Any], None],
) -> Any:
    from ray import train

    from workers.training import controller

    return controller.StoppableTrainer(
        held.group,
        follow,
        enter,
        scaling_config=train.ScalingConfig(
            num_workers=held.need.count,
            use_gpu=held.need.device == needs.GPU,
            resources_per_worker=held.need.bundle,
        ),
        torch_config=controller.Sharing(),
        run_config=train.RunConfig(
            name="ray",
            storage_path=str(task.folder),
            failure_config=train.FailureConfig(max_failures=RETRIES),
        ),
    )


def _follow(mailbox: Any, reporter: Reporter, held: Reservation, running: Any) -> None:
    """Pass on what the leader writes until the training ends, asking each time whether to stop."""
    import ray

    last: tuple[Any, ...] = (0.0, "Starting the training processes.")
    looked = stood = time.monotonic()
    while True:
        done, _ = ray.wait([running], timeout=LOOK_UP)
        for kind, content in ray.get(mailbox.take.remote()):
            if kind == "refused":
                raise content[0]
            last = content if kind == "progress" else last
            getattr(reporter, kind)(*content)
        if done:
            return
        if time.monotonic() - looked > LOOK_AROUND:
            looked = time.monotonic()
            if held.stands():
                stood = looked
            else:
                last = last[0], held.sentence()
                reservation.check_patience(looked - stood, last[1])
        reporter.progress(*last)


def _enter(loop: Loop, task: TrainingTask, mailbox: Any) -> Mapping[str, Any]:
    """One of Ray Train's processes; our own errors go to the mailbox, as Ray would retry them."""
    import ray
    from ray import train

    os.environ.update(offline.environment())
    context = train.get_context()
    place = Place(
        rank=context.get_world_rank(),
        count=context.get_world_size(),
        device=_device(),
        threads=task.parameters.cores or basics.threads(context.get_local_world_size()),
    )
    by_post = ByPost(mailbox)
    if place.leads:
        by_post.log(f"Trains in {many(place.count, 'process', 'processes')}.")
    if ray.get_gpu_ids() and place.device == needs.CPU:
        by_post.log(f"Process {place.rank} has a GPU, but torch cannot use it: it takes cores.")
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


def _device() -> str:
    """The card that Ray has given to this process, where torch can use it; else the cores."""
    import ray
    import torch
    from ray.train import torch as train_torch

    usable = ray.get_gpu_ids() and torch.cuda.is_available()
    return str(train_torch.get_device()) if usable else needs.CPU


def _last_line(error: BaseException) -> str:
    """What went wrong, without how Ray got there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__

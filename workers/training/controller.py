"""Ray's controller of a training, which tells what it reserves, so that all of it can be released.

Ray cleans up after a killed controller by way of its dashboard, which we do not run. Import only
where a training through Ray is started, and in the controller's own process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.train import torch as train_torch
from ray.train.v2._internal import constants
from ray.train.v2._internal.callbacks.placement_group_callback import PlacementGroupCleanerCallback
from ray.train.v2._internal.execution.controller import TrainController
from ray.train.v2._internal.execution.worker_group import WorkerGroup

Follow = Callable[[Any], None]


class Group(WorkerGroup):  # type: ignore[misc]
    """The processes of a training; their reservation is told before they start."""

    mailbox: Any = None

    def _create_placement_group(self, *what: Any, **named: Any) -> Any:
        handle = super()._create_placement_group(*what, **named)
        ray.get(self.mailbox.reserve.remote(handle.placement_group))
        return handle


class Controller(TrainController):  # type: ignore[misc]
    """Starts, watches and restarts a group."""

    def __init__(self, mailbox: Any, **what: Any) -> None:
        self.worker_group_cls = type("Group", (Group,), {"mailbox": mailbox})
        super().__init__(**what)


class StoppableTrainer(train_torch.TorchTrainer):  # type: ignore[misc]
    """Waits where it can be told to stop, and leaves nothing behind however that ends."""

    def __init__(self, mailbox: Any, follow: Follow, *what: Any, **named: Any) -> None:
        self.mailbox, self.follow = mailbox, follow
        super().__init__(*what, **named)

    def _create_default_callbacks(self) -> list[Any]:
        found = super()._create_default_callbacks()
        return [each for each in found if not isinstance(each, PlacementGroupCleanerCallback)]

    def _initialize_and_run_controller(self, **what: Any) -> Any:
        controller = _controller(self.mailbox, what)
        try:
            running = controller.run.remote()
            self.follow(running)
            ray.get(running)
            return ray.get(controller.get_result.remote())
        finally:
            _release(self.mailbox, controller)


def _controller(mailbox: Any, what: Mapping[str, Any]) -> Any:
    variables = constants.get_env_vars_to_propagate()
    options = {"num_cpus": 0, "runtime_env": {"env_vars": variables}}
    return ray.remote(Controller).options(**options).remote(mailbox, **what)


def _release(mailbox: Any, controller: Any) -> None:
    """Removing a reservation kills the processes in it; the controller must not make a new one."""
    ray.kill(controller)
    with contextlib.suppress(ray.exceptions.RayError):
        for reservation in ray.get(mailbox.reserved.remote()):
            ray.util.remove_placement_group(reservation)

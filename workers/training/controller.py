"""Ray's controller of a training, within what the job's process has reserved.

Ray's own would reserve by itself, in a process that may be killed, and clean up by way of its
dashboard, which we do not run. Import only where a training through Ray is started, and in the
controller's own process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
import torch
from ray.train import torch as train_torch
from ray.train.torch import config as torch_config
from ray.train.v2._internal import constants
from ray.train.v2._internal.callbacks.placement_group_callback import PlacementGroupCleanerCallback
from ray.train.v2._internal.execution.controller import TrainController
from ray.train.v2._internal.execution.scaling_policy.fixed import FixedScalingPolicy
from ray.train.v2._internal.execution.worker_group import WorkerGroup
from ray.train.v2._internal.execution.worker_group.placement_group_handle import (
    DefaultPlacementGroupHandle,
)

from workers.demand import names

Follow = Callable[[Any], None]


class Lent(DefaultPlacementGroupHandle):  # type: ignore[misc]
    """A reservation that is not ours to give back: processes that died are started in it again."""

    def shutdown(self) -> None:
        """The job's process releases it."""


class Group(WorkerGroup):  # type: ignore[misc]
    """The processes of a training, in what is reserved for them."""

    lent: Any = None

    def _create_placement_group(self, *_: Any, **__: Any) -> Any:
        return Lent(self.lent)


class Reserved(FixedScalingPolicy):  # type: ignore[misc]
    """All is reserved already. Ray's own policy also asks the autoscaler, by an actor that stays.

    What it asks for holds nodes for minutes after a training that is cancelled or killed.
    """

    def after_controller_start(self, train_run_context: Any) -> None:
        """Ask for nothing."""

    def _maybe_send_resource_request(self) -> None:
        """Ask for nothing again."""


class Controller(TrainController):  # type: ignore[misc]
    """Starts, watches and restarts a group."""

    def __init__(self, lent: Any, **what: Any) -> None:
        self.worker_group_cls = type("Group", (Group,), {"lent": lent})
        super().__init__(**what)


class SharingBackend(torch_config._TorchBackend):  # type: ignore[misc]
    """How gradients are shared: between cards where every process can use its own."""

    def on_start(self, worker_group: Any, backend_config: Any) -> None:
        """Ask the processes, which may be on machines that this one does not know."""
        chosen = way(worker_group.execute(_has_card))
        super().on_start(worker_group, dataclasses.replace(backend_config, backend=chosen))


@dataclass
class Sharing(train_torch.TorchConfig):  # type: ignore[misc]
    """The process group of a training."""

    @property
    def backend_cls(self) -> Any:
        """Who makes it."""
        return SharingBackend


def way(carded: Sequence[bool]) -> str:
    """How processes talk of which each says whether it can use a card."""
    return "nccl" if all(carded) else "gloo"


def _has_card() -> bool:
    return bool(ray.get_gpu_ids()) and torch.cuda.is_available()


class StoppableTrainer(train_torch.TorchTrainer):  # type: ignore[misc]
    """Waits where it can be told to stop, and leaves nothing behind however that ends."""

    def __init__(self, lent: Any, follow: Follow, *what: Any, **named: Any) -> None:
        self.lent, self.follow = lent, follow
        super().__init__(*what, **named)

    def _create_default_callbacks(self) -> list[Any]:
        found = super()._create_default_callbacks()
        return [each for each in found if not isinstance(each, PlacementGroupCleanerCallback)]

    def _initialize_and_run_controller(self, **what: Any) -> Any:
        controller = _controller(self.lent, what)
        try:
            running = controller.run.remote()
            self.follow(running)
            ray.get(running)
            return ray.get(controller.get_result.remote())
        finally:
            # It must not start processes any more; those that run end with the reservation.
            ray.kill(controller)


def _controller(lent: Any, what: Mapping[str, Any]) -> Any:
    variables = constants.get_env_vars_to_propagate()
    name = names.named(ray, "steers the training")
    options = {"num_cpus": 0, "name": name, "runtime_env": {"env_vars": variables}}
    given = {**what, "scaling_policy": Reserved(what["scaling_policy"].scaling_config)}
    return ray.remote(Controller).options(**options).remote(lent, **given)

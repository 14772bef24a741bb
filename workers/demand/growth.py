"""How a cluster grows, as its autoscaler says: what starts, what failed, and what cannot come."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

from backend.words import many

PATIENCE = 10.0  # seconds for the autoscaler's answer; it states one every five
EVERY = 0.4  # seconds for which its answer stands


@dataclass(frozen=True, slots=True)
class Growth:
    """What the autoscaler said last; `grows` is whether this cluster starts nodes at all.

    `cannot` is that it will start none for this demand: no kind of node has what is asked for, or
    there are as many as it may have.
    """

    grows: bool
    spoke: bool
    cannot: bool = False
    starting: int = 0
    failed: str = ""

    def __str__(self) -> str:
        told = []
        if self.starting:
            told.append(f"{many(self.starting, 'node')} {_verb(self.starting)} starting")
        if self.failed:
            told.append(f"a node could not be started ({self.failed})")
        if self.cannot:
            told.append(
                "no kind of node that it may start has them, or it has as many nodes as it may"
            )
        return "".join(f"; {one}" for one in told)


class Asking:
    """Asks what the autoscaler of the cluster says of a demand: a placement group, by its number.

    Over one connection, however often it is asked: whoever waits looks twice a second.
    """

    def __init__(self, ray: Any, demand: str) -> None:
        self.ray, self.demand = ray, demand
        self._door: Any = None
        self._said: Growth | None = None
        self._asked = 0.0

    def says(self) -> Growth:
        """What it said last; a cluster that is slow has said nothing."""
        from ray.exceptions import RayError

        if self._said is None or time.monotonic() - self._asked > EVERY:
            try:
                self._said = _read(self._status(), self.demand)
            except (RayError, RuntimeError):
                self._door, self._said = None, Growth(grows=True, spoke=True)
            self._asked = time.monotonic()
        return self._said

    def _status(self) -> Any:
        from ray._raylet import GcsClient  # type: ignore[attr-defined]
        from ray.core.generated import autoscaler_pb2

        if self._door is None:
            self._door = GcsClient(address=self.ray.get_runtime_context().gcs_address)
        reply = autoscaler_pb2.GetClusterStatusReply()
        reply.ParseFromString(self._door.get_cluster_status(timeout_s=5))
        return reply


def _read(reply: Any, demand: str) -> Growth:
    says = reply.autoscaling_state
    starting = sum(one.count for one in says.pending_instance_requests)
    starts = starting or len(says.pending_instances)
    cannot = any(demand in one.details for one in says.infeasible_gang_resource_requests)
    kinds = any(one.ray_node_type_name for one in reply.cluster_resource_state.node_states)
    return Growth(
        grows=kinds or bool(starts) or bool(says.failed_instance_requests),
        spoke=says.autoscaler_state_version > 0,
        cannot=cannot,
        starting=starts,
        failed=_failed(says.failed_instance_requests),
    )


def _failed(requests: Any) -> str:
    """The last start that failed, with its reason in one line."""
    if not requests:
        return ""
    last = max(requests, key=lambda one: one.failed_ts)
    reason = re.sub(r"\s+", " ", last.reason).strip().rstrip(".")[:200]
    return f"{last.ray_node_type_name}: {reason}" if reason else str(last.ray_node_type_name)


def _verb(number: int) -> str:
    return "is" if number == 1 else "are"

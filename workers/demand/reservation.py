"""What a job needs of a cluster, reserved: a placement group of the job's own process.

It is one demand for all, so a cluster that grows starts the nodes for it, and it belongs to the
process that asks, so it goes with the job however that ends.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from backend import settings
from backend.errors import Refused, Unavailable
from backend.jobs import needs
from backend.jobs.needs import Need
from backend.words import many
from workers.demand import growth, names
from workers.demand.growth import Asking, Growth

LOOK = 0.5  # seconds between looks at what has come
READY = "CREATED"
Tell = Callable[[str], None]


class _CannotCome(Exception):
    """No card can come for who takes cores as well."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What is held: the group, and the need that it was made for, its device decided."""

    ray: Any
    need: Need
    group: Any
    asking: Asking

    def stands(self) -> bool:
        """Whether all of it is there; not while a node of it has died and is waited for again."""
        return bool(_state(self) == READY)

    def release(self) -> None:
        """Give all of it back; whatever runs in it ends with it."""
        with contextlib.suppress(self.ray.exceptions.RayError, RuntimeError):
            self.ray.util.remove_placement_group(self.group)

    def place(self) -> dict[str, Any]:
        """The options of an actor that takes one of its places."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        bundle = self.need.bundle
        return {
            "num_cpus": bundle["CPU"],
            "num_gpus": bundle.get("GPU", 0),
            "memory": bundle.get("memory"),
            "scheduling_strategy": PlacementGroupSchedulingStrategy(self.group),
        }

    def placed(self) -> list[list[str]]:
        """The nodes that carry it, each by its type, where it has one, and its name."""
        carried = self.ray.util.placement_group_table(self.group)["bundles_to_node_id"]
        nodes = {node["NodeID"]: node for node in self.ray.nodes()}
        found = [nodes[id] for id in dict.fromkeys(carried.values()) if id in nodes]
        kinds = [node.get("Labels", {}).get("ray.io/node-type", "") for node in found]
        names = [node["NodeManagerHostname"] for node in found]
        return [[one for one in pair if one] for pair in zip(kinds, names, strict=True)]

    def sentence(self) -> str:
        """What is waited for, what there is, and what is on its way."""
        return _sentence(self, self.asking.says())


@contextlib.contextmanager
def reserved(ray: Any, need: Need, tell: Tell) -> Iterator[Reservation]:
    """Hold what is needed; `tell` hears what is waited for and may raise to end it."""
    held = hold(ray, need, tell)
    try:
        yield held
    finally:
        held.release()


def cards(ray: Any) -> int:
    """How many cards the cluster has."""
    return int(ray.cluster_resources().get("GPU", 0))


def may_grow() -> bool:
    """A cluster of our own is this machine; one that a setting names may start nodes."""
    return bool(settings.current().ray_address)


def hold(ray: Any, need: Need, tell: Tell) -> Reservation:
    """The same, for who releases it: it goes with this process at the latest."""
    if need.device != needs.AUTO:
        return _come(ask(ray, need), tell, other_than_cards=False)
    if cards(ray):
        return _come(ask(ray, replace(need, device=needs.GPU)), tell, other_than_cards=False)
    if may_grow():
        with contextlib.suppress(_CannotCome):
            asked = ask(ray, replace(need, device=needs.GPU))
            return _come(asked, tell, other_than_cards=True)
    return _come(ask(ray, replace(need, device=needs.CPU)), tell, other_than_cards=False)


def check_patience(waited: float, sentence: str) -> None:
    """Refuse a job that has waited so many seconds for nodes, where a setting allows fewer."""
    minutes = settings.current().node_minutes
    if waited > minutes * 60:
        raise Refused(f"Given up after {minutes:g} minutes (LOUPE_NODE_MINUTES). {sentence}")


def ask(ray: Any, need: Need) -> Reservation:
    """Ask for what is needed, and do not wait for it; the device is decided."""
    places, name = _places(ray, need), names.named(ray, f"room for {need}")
    group = ray.util.placement_group([need.bundle] * need.count, name=name, **places)
    return Reservation(ray, need, group, Asking(ray, group.id.hex()))


def _places(ray: Any, need: Need) -> dict[str, Any]:
    """How the processes stand: as they fit, or alike on so many nodes."""
    if need.nodes in (0, 1, need.count):
        each = {1: "STRICT_PACK", 0: "PACK"}.get(need.nodes, "STRICT_SPREAD")
        return {"strategy": each}
    share = need.count // need.nodes
    found = [id for id, fit in _rooms(ray, need).items() if fit >= share][: need.nodes]
    if len(found) < need.nodes:
        raise Refused(
            f"Only {many(len(found), 'node')} of the cluster can carry {share} processes of a job "
            f"that asks for {need}: add nodes first, or ask for less."
        )
    chosen = [{"ray.io/node-id": id} for id in found for _ in range(share)]
    return {"strategy": "PACK", "bundle_label_selector": chosen}


def _come(held: Reservation, tell: Tell, other_than_cards: bool) -> Reservation:
    try:
        _wait(held, tell, other_than_cards)
    except BaseException:
        held.release()
        raise
    return held


def _wait(held: Reservation, tell: Tell, other_than_cards: bool) -> None:
    """Until it stands. Others' work is waited for as long as it takes, missing nodes are not."""
    began = short_since = time.monotonic()
    while not held.stands():
        now, short = time.monotonic(), room(held.ray, held.need) < held.need.count
        short_since = short_since if short else now
        says = held.asking.says() if may_grow() else Growth(grows=False, spoke=True)
        if short and other_than_cards and _is_no(says, now - began):
            raise _CannotCome
        if short:
            _refuse_where_nothing_grows(held, says, now - began)
        sentence = _sentence(held, says if short else replace(says, cannot=False))
        check_patience(now - short_since, sentence)
        tell(sentence)
        time.sleep(LOOK)


def _is_no(says: Growth, waited: float) -> bool:
    """Whether nothing will come: the autoscaler says so, or nobody answers in its name."""
    return says.cannot or (not says.spoke and waited > growth.PATIENCE)


def _refuse_where_nothing_grows(held: Reservation, says: Growth, waited: float) -> None:
    if says.grows or not (not may_grow() or _is_no(says, waited)):
        return
    space = many(room(held.ray, held.need), "process", "processes")
    sentence = (
        f"The cluster has room for {space} of a job that asks for {held.need}, and starts no "
        f"nodes: ask for less, or add nodes with {needs.NAMES[held.need.device]}s."
    )
    raise (Unavailable if may_grow() else Refused)(sentence)


def room(ray: Any, need: Need) -> int:
    """How many of the processes all nodes that stand could carry, were nobody else there."""
    rooms = _rooms(ray, need).values()
    if not need.nodes:
        return sum(rooms)
    share = need.count // need.nodes
    full = sum(each >= share for each in rooms)
    return need.count if full >= need.nodes else full * share


def free(need: Need) -> int:
    """How many of them the nodes have free; halves of two cards make no whole one."""
    from ray._private import state  # Ray tells this publicly only where its dashboard runs

    return sum(need.times(each) for each in state.available_resources_per_node().values())


def _rooms(ray: Any, need: Need) -> dict[str, int]:
    """The same for each node."""
    return {node["NodeID"]: need.times(node["Resources"]) for node in ray.nodes() if node["Alive"]}


def _sentence(held: Reservation, says: Growth) -> str:
    name = "GPU" if held.need.device == needs.GPU else "CPU"
    all_, free = (
        int(found.get(name, 0))
        for found in (held.ray.cluster_resources(), held.ray.available_resources())
    )
    has = f"{all_:,}" if free >= all_ else f"{all_:,}, {free:,} of them free"
    return f"Waiting for {held.need}: the cluster has {has}{says}."


def _state(held: Reservation) -> str:
    return str(held.ray.util.placement_group_table(held.group).get("state", ""))

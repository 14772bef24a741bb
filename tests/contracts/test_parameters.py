"""Every parameter that a search may try arrives where it counts, and not in the first trial alone.

What a training tells is heard by a reporter that looks around in it: at the optimizer, the loader,
the pictures. Adding a parameter to `backend.spaces.TUNABLES` is a row here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend import families, spaces
from backend.domain import Task
from backend.errors import Enough
from backend.weights import start_weights
from tests.contracts import test_families
from tests.workers.families import drawn
from workers.families import base
from workers.families.base import Parameters, TrainingSet

# How far between its bounds each parameter is tried: small enough for small pictures.
FAR = 0.3
Locals = Mapping[str, Any]
Look = Callable[[Locals], object]
CHANGES = ("shift", "mirror", "upside_down", "turn", "light", "erase")


def steps(found: Any, kind: str) -> Iterator[Any]:
    """The changes of that kind among those that pictures go through, however deep."""
    if type(found).__name__ == kind:
        yield found
    for inner in getattr(found, "transforms", ()):
        yield from steps(inner, kind)


def change(kind: str, name: str) -> Look:
    """What a change of the pictures is set to."""
    return lambda seen: getattr(
        next(steps(seen["self"].train_loader.dataset.transforms, kind)), name
    )


def flips(direction: str) -> Look:
    """How often pictures are turned over that way."""

    def look(seen: Locals) -> object:
        found = steps(seen["self"].train_loader.dataset.transforms, "RandomFlip")
        return next(one.p for one in found if one.direction == direction)

    return look


def frozen(seen: Locals) -> int:
    """How many of the first layers learn nothing."""
    layers = seen["self"].model.model
    learns = [any(one.requires_grad for one in layer.parameters()) for layer in layers]
    return learns.index(True)


def changed(name: str) -> Look:
    """How far a classifier's pictures are changed."""
    return lambda seen: getattr(seen["lesson"].changes, name)


def setting(name: str) -> Look:
    """What pictures are compared by."""
    return lambda seen: getattr(seen["self"].settings, name)


# Of each family: what looks, and where each parameter is read.
OURS: dict[str, Look] = {
    "learning_rate": lambda seen: seen["optimizer"].param_groups[0]["lr"],
    "weight_decay": lambda seen: seen["optimizer"].param_groups[0]["weight_decay"],
    "batch": lambda seen: len(seen["batch"]),
    "accumulate": lambda seen: seen["every"],
    "warm_up": lambda seen: seen["given"].extra.get("warm_up", 0),
}
WHERE: dict[str, tuple[str, dict[str, Look]]] = {
    "golden": (
        "_lessons",
        {name: setting(name) for name in ("tolerance", "grow", "join", "beyond", "smallest")},
    ),
    "yolo": (
        "_told_batch",
        {
            "learning_rate": lambda seen: seen["self"].optimizer.param_groups[0]["initial_lr"],
            "weight_decay": lambda seen: max(
                one["weight_decay"] for one in seen["self"].optimizer.param_groups
            ),
            "batch": lambda seen: seen["self"].train_loader.batch_size,
            "mosaic": change("Mosaic", "p"),
            "scale": change("RandomPerspective", "scale"),
            "image_size": lambda seen: seen["self"].train_loader.dataset[0]["img"].shape[-1],
            "freeze": frozen,
            "accumulate": lambda seen: seen["self"].args.nbs / seen["self"].batch_size,
            "momentum": lambda seen: seen["self"].optimizer.param_groups[0]["betas"][0],
            "mirror": flips("horizontal"),
            "upside_down": flips("vertical"),
            "turn": change("RandomPerspective", "degrees"),
            "shift": change("RandomPerspective", "translate"),
            "light": change("RandomHSV", "vgain"),
            "mixup": change("MixUp", "p"),
        },
    ),
    "faster_rcnn": (
        "_epoch",
        {**OURS, "image_size": lambda seen: seen["lesson"].network.transform.max_size},
    ),
    "classifier": (
        "_epoch",
        {
            **OURS,
            **{name: changed(name) for name in CHANGES},
            "image_size": lambda seen: seen["batch"][0][0].shape[0],
            "label_smoothing": lambda seen: seen["lesson"].loss.label_smoothing,
            "balance": lambda seen: seen["lesson"].rarity.balance,
            "class_weights": lambda seen: seen["lesson"].rarity.power,
        },
    ),
}
WHERE["second_stage"] = WHERE["golden"]


class Looking:
    """A reporter that looks around in what tells it, once, and has then seen enough."""

    def __init__(self, where: str, look: Mapping[str, Look]) -> None:
        self.where, self.look = where, look
        self.seen: dict[str, object] = {}

    def progress(self, fraction: float, message: str) -> None:
        """The first batch is done, or pictures are read."""
        del fraction, message
        self._look_around()

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """It has looked by then."""

    def log(self, text: str) -> None:
        """Nothing of that."""

    def _look_around(self) -> None:
        frame: Any = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != self.where:
            frame = frame.f_back
        if frame is None:
            return
        self.seen = {name: read(frame.f_locals) for name, read in self.look.items()}
        raise Enough("It was looked at.")


def pictures(family: families.Family, folder: Path) -> TrainingSet:
    """Few, small, and enough for the batches that are tried."""
    if family.task is Task.CLASSIFY:
        return drawn.single(folder, 24)
    if family.needs_golden:
        return test_families.boards(folder)
    return drawn.shapes(folder)


def given(family: families.Family, values: Mapping[str, float]) -> Parameters:
    """What a trial of the family is trained with."""
    plain = {"epochs": 3, "image_size": 96, "batch": 4, "variant": next(iter(family.variants), "")}
    extra = {} if family.needs_golden else {"from_scratch": True}
    return Parameters(**spaces.merged({**plain, "extra": extra}, values))


def test_every_parameter_has_a_place_where_it_is_read() -> None:
    assert {name: set(look) for name, (_, look) in WHERE.items()} == {
        name: {one.tried.name for one in rows} for name, rows in spaces.TUNABLES.items()
    }


@pytest.mark.parametrize("name", WHERE)
def test_what_is_tried_arrives_in_a_later_trial_too(name: str, tmp_path: Path) -> None:
    family, (where, look) = families.find(name), WHERE[name]
    data = pictures(family, tmp_path / "pictures")
    begin = start_weights.ASSETS / "start_yolo11n.safetensors" if family.behind else None
    wanted = {one.tried.name: one.tried.at(FAR) for one in spaces.TUNABLES[name]}
    seen = []
    for trial, values in enumerate(({}, wanted)):
        reporter, folder = Looking(where, look), tmp_path / str(trial)
        folder.mkdir()
        with pytest.raises(Enough):
            base.implementation(name).train(data, begin, given(family, values), reporter, folder)
        seen.append(reporter.seen)
    assert seen[1] == pytest.approx(wanted)
    assert all(seen[0][one] != seen[1][one] for one in wanted)

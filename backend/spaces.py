"""What a search may try: the parameters of each model family, with sensible bounds, and their text.

`--space lr=1e-5..1e-2:log,batch=4|8|16` names a range or a choice a parameter; what is not named
stays as the family's defaults have it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from backend import families
from backend.errors import Invalid

# What stands beside `extra` among the parameters of a training.
PLAIN = ("learning_rate", "batch", "image_size")
SHORT = {"lr": "learning_rate", "size": "image_size"}


class Spacing(StrEnum):
    """How values lie between their bounds."""

    LIN = "lin"
    LOG = "log"
    INT = "int"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parameter and what is tried of it: from `low` to `high`, or one of `choices`."""

    name: str
    scale: Spacing
    low: float = 0.0
    high: float = 0.0
    choices: tuple[float, ...] = ()

    def at(self, share: float) -> float:
        """The value that lies so far (from 0 to 1, without 1) between the bounds."""
        if self.scale is Spacing.CHOICE:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.scale is Spacing.INT:
            return min(int(self.low + share * (self.high - self.low + 1)), int(self.high))
        if self.scale is Spacing.LOG:
            return math.exp(math.log(self.low) + share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Tunable:
    """A parameter that a family uses: what is tried of it, and what would make no sense.

    Only `usual` ones are searched where nobody says which.
    """

    tried: Dimension
    least: float
    most: float
    usual: bool = True


def _rate(low: float, high: float) -> Tunable:
    return Tunable(Dimension("learning_rate", Spacing.LOG, low, high), 1e-9, 10.0)


def _choice(name: str, values: Sequence[int], least: int, most: int, usual: bool = True) -> Tunable:
    return Tunable(Dimension(name, Spacing.CHOICE, choices=tuple(values)), least, most, usual)


def _whole(name: str, low: int, high: int, most: int, usual: bool = True) -> Tunable:
    return Tunable(Dimension(name, Spacing.INT, low, high), min(low, 1), most, usual)


def _between(name: str, low: float, high: float, most: float, usual: bool = True) -> Tunable:
    return Tunable(Dimension(name, Spacing.LIN, low, high), 0.0, most, usual)


# Parameters that are words, and the words they may be.
WORDS: Mapping[str, tuple[str, ...]] = {"schedule": ("cosine", "linear", "steady")}
OWN_LOOP = ("faster_rcnn", "classifier")
WARM_UP = _between("warm_up", 0.0, 0.3, 0.9, usual=False)
DECAY = Tunable(Dimension("weight_decay", Spacing.LOG, 1e-5, 0.1), 1e-9, 1.0)


def _aside(name: str, low: float, high: float, most: float) -> Tunable:
    """One that is searched only where somebody names it."""
    return Tunable(Dimension(name, Spacing.LIN, low, high), 0.0, most, usual=False)


# How a picture is compared with its golden.
COMPARING = (
    _between("tolerance", 0.5, 3.0, 20.0),
    _whole("grow", 2, 10, 100),
    _whole("join", 0, 5, 100),
    _whole("beyond", 0, 5, 100),
    _whole("smallest", 1, 20, 10_000),
)
TUNABLES: Mapping[str, tuple[Tunable, ...]] = {
    "golden": COMPARING,
    "yolo": (
        _rate(1e-4, 1e-2),
        _choice("batch", (4, 8, 16, 32), 1, 4096),
        DECAY,
        _between("mosaic", 0.0, 1.0, 1.0),
        _between("scale", 0.0, 0.6, 0.9),
        _choice("image_size", (320, 480, 640), 32, 4096, usual=False),
        _whole("freeze", 0, 10, 20, usual=False),
        _whole("accumulate", 1, 4, 1000, usual=False),
        _aside("momentum", 0.8, 0.98, 0.999),
        _aside("mirror", 0.0, 0.5, 1.0),
        _aside("upside_down", 0.0, 0.5, 1.0),
        _aside("turn", 0.0, 15.0, 180.0),
        _aside("shift", 0.0, 0.3, 0.9),
        _aside("light", 0.0, 0.6, 1.0),
        _aside("mixup", 0.0, 0.3, 1.0),
    ),
    "faster_rcnn": (
        _rate(2e-5, 2e-3),
        _choice("batch", (2, 4, 8), 1, 4096),
        DECAY,
        _choice("image_size", (320, 480, 640), 32, 4096, usual=False),
        _whole("accumulate", 1, 4, 1000, usual=False),
        WARM_UP,
    ),
    "classifier": (
        _rate(1e-5, 1e-2),
        _choice("batch", (8, 16, 32, 64), 1, 4096),
        DECAY,
        _between("label_smoothing", 0.0, 0.2, 0.9),
        _between("erase", 0.0, 0.5, 1.0),
        _between("shift", 0.0, 0.25, 0.5, usual=False),
        _between("mirror", 0.0, 0.5, 1.0, usual=False),
        _between("upside_down", 0.0, 0.5, 1.0, usual=False),
        _between("turn", 0.0, 15.0, 180.0, usual=False),
        _between("light", 0.0, 0.4, 1.0, usual=False),
        _between("balance", 0.0, 1.0, 1.0, usual=False),
        _between("class_weights", 0.0, 1.0, 1.0, usual=False),
        WARM_UP,
        _choice("image_size", (128, 224, 320), 32, 4096, usual=False),
        _whole("accumulate", 1, 4, 1000, usual=False),
    ),
    "second_stage": COMPARING,
}


def usual(family: str) -> tuple[Dimension, ...]:
    """What is searched where nobody says what."""
    return tuple(each.tried for each in _tunables(family).values() if each.usual)


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter that a family has besides those of all: a number between bounds, or a word."""

    name: str
    least: float
    most: float
    whole: bool = False
    words: tuple[str, ...] = ()


def knobs(family: str) -> list[Knob]:
    """What may be set of a family besides what is set of all."""
    rows = [each for each in TUNABLES.get(family, ()) if each.tried.name not in PLAIN]
    found = [Knob(one.tried.name, one.least, one.most, _is_whole(one.tried)) for one in rows]
    words = WORDS if family in OWN_LOOP else {}
    return [*found, *(Knob(name, 0, 0, words=known) for name, known in words.items())]


def turned(
    family: str, parameters: Mapping[str, Any], values: Mapping[str, int | float | str]
) -> dict[str, Any]:
    """Parameters with these knobs besides; refused where the family has none such."""
    if "extra" in parameters:
        raise Invalid("There is no parameter 'extra'; what a family has of its own are its knobs.")
    if "start" in parameters:
        raise Invalid("There is no parameter 'start'; what it begins from stands beside them.")
    if not values:
        return dict(parameters)
    texts = (f"{name}={value}" for name, value in values.items())
    return {**parameters, **read(family, texts, where="The form")}


def parse(family: str, text: str) -> tuple[Dimension, ...]:
    """The space that a text names; without any, the family's usual one."""
    known, found = _tunables(family), dict[str, Dimension]()
    for part in _parts(text):
        name, equals, said = part.partition("=")
        name = SHORT.get(name.strip(), name.strip())
        if name not in known:
            raise Invalid(
                f"{family} has no parameter {name[:40]!r} to search; there are {', '.join(known)}."
            )
        if name in found:
            raise Invalid(f"The space names {name} twice; name each parameter once.")
        if not equals or not said.strip():
            raise Invalid(f"The space says nothing of {name}: write {_written(known[name].tried)}.")
        found[name] = _dimension(known[name], said.strip())
    return tuple(found.values()) or usual(family)


def written(space: Iterable[Dimension]) -> str:
    """The text that `parse` reads as this space."""
    return ",".join(_written(each) for each in space)


def told(values: Mapping[str, float]) -> str:
    """Values of a space, in few words."""
    return ", ".join(f"{name} {value:.4g}" for name, value in values.items())


def merged(parameters: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    """The parameters of a training with these values of a space in their places."""
    plain = {name: value for name, value in values.items() if name in PLAIN}
    extra = {name: value for name, value in values.items() if name not in PLAIN}
    if not extra:
        return {**parameters, **plain}
    return {**parameters, **plain, "extra": {**parameters.get("extra", {}), **extra}}


def read(family: str, texts: Iterable[str], *, where: str = "--set") -> dict[str, Any]:
    """Parameters of a training as `NAME=VALUE` each, refused where the family has none such."""
    known, found = _tunables(family), dict[str, Any]()
    words = WORDS if family in OWN_LOOP else {}
    for text in texts:
        name, _, said = (part.strip() for part in text.partition("="))
        name = SHORT.get(name, name)
        if name in words:
            found[name] = said
        elif name in known:
            found[name] = _number(name, said, _is_whole(known[name].tried), where=where)
        else:
            names = ", ".join((*known, *words))
            raise Invalid(f"{family} has no parameter {name[:40]!r} to set; there are {names}.")
    if said := " ".join(wrong(family, found)):
        raise Invalid(said)
    return merged({}, found)


def wrong(family: str, values: Mapping[str, Any]) -> Iterator[str]:
    """What is said of a family's own parameters that makes no sense, a sentence each."""
    for each in TUNABLES.get(family, ()):
        name, value = each.tried.name, values.get(each.tried.name, each.least)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not each.least <= value <= each.most:
            said = repr(value)[:40]
            yield f"The parameter {name} must be from {each.least:g} to {each.most:g}, not {said}."
    for name, words in WORDS.items():
        if name in values and values[name] not in words:
            said = repr(values[name])[:40]
            yield f"The parameter {name} must be one of {', '.join(words)}, not {said}."


def _tunables(family: str) -> dict[str, Tunable]:
    rows = TUNABLES.get(families.find(family).name, ())
    if not rows:
        raise Invalid(f"The family {family} has no parameter that could be searched.")
    return {each.tried.name: each for each in rows}


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


def _dimension(known: Tunable, said: str) -> Dimension:
    """A choice (4|8|16) or a range (low..high, with :lin, :log or :int behind it)."""
    name, whole = known.tried.name, _is_whole(known.tried)
    if ".." not in said:
        values = tuple(_number(name, each, whole) for each in said.split("|"))
        found = Dimension(name, Spacing.CHOICE, choices=tuple(dict.fromkeys(values)))
    else:
        bounds, _, scale = said.partition(":")
        low, _, high = (each.strip() for each in bounds.partition(".."))
        found = Dimension(
            name,
            _scale(known, scale.strip()),
            _number(name, low, whole),
            _number(name, high, whole),
        )
        _check_range(found, said)
    for value in found.choices or (found.low, found.high):
        if not known.least <= value <= known.most:
            raise Invalid(
                f"The parameter {name} goes from {known.least:g} to {known.most:g}, "
                f"so {value:g} cannot be tried."
            )
    return found


def _check_range(found: Dimension, said: str) -> None:
    if found.low == found.high:
        raise Invalid(f"The range {found.name}={said} is empty: its bounds are the same.")
    if found.low > found.high:
        turned = _written(replace(found, low=found.high, high=found.low))
        raise Invalid(f"The range {found.name}={said} is reversed: write {turned}.")
    if found.scale is Spacing.LOG and found.low <= 0:
        raise Invalid(f"The range {found.name}={said} is logarithmic, so it must begin above 0.")


def _scale(known: Tunable, said: str) -> Spacing:
    ranges = (Spacing.LIN, Spacing.LOG, Spacing.INT)
    if _is_whole(known.tried):
        if said in ("", Spacing.INT):
            return Spacing.INT
        raise Invalid(f"The parameter {known.tried.name} is a whole number, so :{said} is no way.")
    if not said:
        return known.tried.scale
    if said not in ranges:
        raise Invalid(
            f"A range is lin, log or int, not {said[:40]!r}, as the space says of "
            f"{known.tried.name}."
        )
    return Spacing(said)


def _number(name: str, said: str, whole: bool, *, where: str = "The space") -> float:
    try:
        value = int(said) if whole else float(said)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        kind = "whole number" if whole else "number"
        raise Invalid(f"{where} says {said[:40]!r} of {name}, which is no {kind}.") from None
    return value


def _is_whole(tried: Dimension) -> bool:
    return tried.scale is Spacing.INT or all(
        isinstance(each, int) for each in tried.choices or (0.5,)
    )


def _written(tried: Dimension) -> str:
    if tried.choices:
        return f"{tried.name}={'|'.join(map(_text, tried.choices))}"
    return f"{tried.name}={_text(tried.low)}..{_text(tried.high)}:{tried.scale}"


def _text(value: float) -> str:
    return repr(value)

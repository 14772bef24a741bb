"""What the golden family may be told, with values chosen on DeepPCB's trainval pictures only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.errors import Invalid


@dataclass(frozen=True, slots=True)
class GoldenOptions:
    """Lengths are pixels of the picture."""

    mode: str = "auto"  # binary, colour, or auto: as the two pictures look
    copper: str = "dark"  # which side of a binary picture is copper: dark or light
    tolerance: float = 1.5  # a difference this near to an edge of the golden is the edge's own
    grow: int = 5  # from the core of a difference to all of it
    join: int = 2  # half the gap over which two parts are one defect
    beyond: int = 2  # how far a defect reaches beyond its core
    pad: int = 10  # how far a box stands off its defect
    pad_most: int = 16  # and at most, on large pictures
    smallest: int = 4  # least pixels of a core
    most: int = 120  # proposals a picture, largest first
    fit: float = 0.9  # least confidence of a registration
    fit_colour: float = 0.8  # and of a photograph's, whose light changes
    usual: int = 1500  # the longer side of a picture up to which these lengths hold
    scale: float = 1.0  # how much larger than usual a picture is

    def scaled(self, side: int) -> GoldenOptions:
        """The settings for a picture of that size."""
        scale = max(1.0, side / self.usual)
        return dataclasses.replace(
            self,
            pad=min(round(self.pad * scale), max(self.pad, self.pad_most)),
            grow=round(self.grow * scale),
            beyond=round(self.beyond * scale),
            join=round(self.join * scale),
            smallest=round(self.smallest * scale * scale),
            scale=scale,
        )


def read(extra: Mapping[str, Any]) -> GoldenOptions:
    """The settings among the extra parameters of a training; an unknown value is refused."""
    fields = {field.name: field for field in dataclasses.fields(GoldenOptions)}
    chosen = {name: value for name, value in extra.items() if name in fields}
    settings = dataclasses.replace(GoldenOptions(), **chosen)
    if settings.mode not in ("auto", "binary", "colour"):
        raise Invalid(f"The golden family knows no mode {settings.mode!r}: auto, binary or colour.")
    if settings.copper not in ("dark", "light"):
        raise Invalid(f"Copper is dark or light in the picture, not {settings.copper!r}.")
    return settings

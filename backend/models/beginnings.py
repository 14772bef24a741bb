"""What a training starts from, and what a person may expect of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backend.families import Family
from backend.models import usual
from backend.weights import start_weights


def notes(family: Family, values: Mapping[str, Any], start: str = "") -> Iterator[str]:
    """A sentence, where a family may start from nothing or from something."""
    if family.behind:
        yield (
            "It learns from what people said of this detector's finds (accepted, corrected, false "
            "call) and from what differs there from the golden. It carries the detector, so that "
            "one model is run; images without a golden are not learned from and not judged."
        )
        return
    if not family.from_nothing or start:
        return
    variant, extra = str(values.get("variant", "")), values.get("extra") or {}
    if variant == family.small.get("variant"):
        yield (
            f"Pictures of up to {usual.SMALL} pixels get the small network, which begins from "
            "nothing and is quick on processors: some 50 pictures a class are a beginning, some "
            "hundreds are good."
        )
    elif not extra.get("from_scratch") and (found := start_weights.find(family.name, variant)):
        yield (
            f"It begins from {found.name}, which knows photographs: some tens of pictures a class "
            "are a beginning."
        )
    elif not extra.get("download"):
        yield (
            f"There are no start weights for {variant} on this machine, so it begins from nothing: "
            "expect to need thousands of pictures and some tens of epochs, or put a file into "
            "LOUPE_WEIGHTS_DIR."
        )

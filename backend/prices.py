"""What an hour of a node costs, as a person says it: `g5.xlarge=1.20,node=0.30`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from backend.errors import Invalid

ANY = "node"  # every node that has no price of its own


def read(texts: Iterable[str]) -> dict[str, float]:
    """Prices by the type or the name of a node, `node` for all others."""
    found = {}
    for text in (part for one in texts for part in one.split(",") if part.strip()):
        name, _, said = (part.strip() for part in text.rpartition("="))
        price = _number(said)
        if not name or not 0 <= price < math.inf:
            raise Invalid(
                f"The price {text.strip()[:60]!r} must be NODE=NUMBER, such as g5.xlarge=1.20: a "
                f"type or a name of nodes ({ANY}: all others) and what one of them costs an hour."
            )
        found[name] = price
    return found


def of(prices: Mapping[str, float], nodes: Iterable[Iterable[str]]) -> float | None:
    """What these nodes cost together, each by the first of its names; None where one has none."""
    each = [next((prices[n] for n in (*names, ANY) if n in prices), None) for names in nodes]
    known = [price for price in each if price is not None]
    return sum(known) if each and len(known) == len(each) else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

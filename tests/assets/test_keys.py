"""The table of keys."""

from __future__ import annotations

from collections import defaultdict

from tests import assets


def test_a_key_does_the_same_thing_on_every_page() -> None:
    does = defaultdict(set)
    for row in assets.value("desk/keys.js", "it.KEYS"):
        does[row["key"]].add(row["does"])
    assert {key: found for key, found in does.items() if len(found) > 1} == {}
    assert (does["f"], does["r"], does["x"]) == ({"fit"}, {"reject"}, {"keep"})

"""Shelves hold names as dictionaries do, only in order and on disk."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from backend.formats.source import shelf

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)

FILL = """
import resource
from backend.formats.source import shelf
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
texts = shelf.Texts((f"images/train/{i:08d}.jpg", "") for i in range(400_000))
assert sum(1 for _ in texts) == len(texts) == 400_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@given(st.dictionaries(names, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_texts_are_a_dictionary_in_order(pairs: dict[str, str]) -> None:
    texts = shelf.Texts(pairs.items())
    assert list(texts.items()) == list(texts.pairs()) == sorted(pairs.items())
    assert len(texts) == len(pairs)
    texts["new"] = "one"
    assert texts["new"] == "one"
    assert ("absent\ud800" in texts, texts.get("absent\ud800")) == (False, None)


@given(st.lists(st.tuples(names, names)))
def test_an_index_gives_all_names_of_a_key(pairs: list[tuple[str, str]]) -> None:
    index = shelf.Index(pairs)
    for key, _ in pairs:
        assert list(index.get(key)) == sorted({name for one, name in pairs if one == key})
        assert key in index
    assert index.get("absent\ud800") == []
    keys = {key for key, _ in pairs}
    assert sorted(index.twice()) == sorted(key for key in keys if len(index.get(key)) > 1)


def test_more_names_than_a_page_come_in_order() -> None:
    shelved = shelf.NameSet(str(number) for number in range(2500))
    assert list(shelved) == sorted(str(number) for number in range(2500))


def test_many_names_do_not_stay_in_memory() -> None:
    told = subprocess.run(
        [sys.executable, "-c", FILL], capture_output=True, text=True, check=True
    ).stdout
    assert int(told) * 1024 < 16e6

"""What the browser remembers stands in one table."""

from __future__ import annotations

import re

from tests import assets

STORES = re.compile(r"\b(localStorage|sessionStorage)\b[.\[]")


def test_nothing_is_kept_beside_the_table() -> None:
    speaking = {
        str(path.relative_to(assets.ASSETS))
        for path in assets.ASSETS.rglob("*.js")
        if STORES.search(path.read_text(encoding="utf-8"))
    }
    assert speaking <= {"common/memory.js"}


def test_no_key_is_taken_for_another() -> None:
    keys = [row["key"] for row in assets.value("common/memory.js", "Object.values(it.PLACES)")]
    mistaken = [(one, two) for one in keys for two in keys if one != two and two.startswith(one)]
    assert len(set(keys)) == len(keys)
    assert mistaken == []


def test_what_is_kept_of_a_thing_is_found_by_its_beginning() -> None:
    browser = (assets.ASSETS.parent / "tests" / "assets" / "browser.mjs").as_uri()
    steps = (
        f"(await import('{browser}'), it.keep('unsent', '1', 'review:a:1'), "
        "it.keep('unsent', '2', 'annotate:a:1'), it.keep('undo', '3'), "
        "[it.all('unsent', 'review:'), it.read('unsent', 'review:a:1'), it.read('undo'), "
        "(it.forget('unsent', 'review:a:1'), it.read('unsent', 'review:a:1'))])"
    )
    assert assets.value("common/memory.js", steps) == [["review:a:1"], "1", "3", None]

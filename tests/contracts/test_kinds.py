"""Every kind of job has what it promises: a request, a handler, locks that can be filled in."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import pytest

from backend.jobs import exclusion, kinds
from backend.jobs.kinds import KINDS, Kind
from workers.handlers import HANDLERS

ROWS = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
EXAMPLES: dict[str, Any] = {"int": 1, "str": "x", "float": 0.5, "bool": False, "int | None": 1}


def example(kind: Kind) -> kinds.Request:
    """A request with a value for each field."""
    values = {
        field.name: EXAMPLES.get(str(field.type), {}) for field in dataclasses.fields(kind.request)
    }
    return kind.request(**values)


def test_kinds_and_handlers_are_the_same_rows() -> None:
    assert set(KINDS) == set(HANDLERS)


@ROWS
def test_a_kind_has_a_handler_that_can_be_imported(kind: Kind) -> None:
    assert callable(importlib.import_module(HANDLERS[kind.name]).run)


@ROWS
def test_a_request_survives_its_storage(kind: Kind) -> None:
    asked = example(kind)
    assert kinds.decode(kind.name, kinds.encode(asked)) == asked


@ROWS
def test_locks_can_be_filled_in(kind: Kind) -> None:
    for rule in (kind.lock, kind.waiting):
        filled = exclusion.key(rule, example(kind))
        assert filled is None or (len(filled) <= 200 and "{project" not in filled)


@ROWS
def test_a_kind_has_words_for_people(kind: Kind) -> None:
    assert kind.title[0].isupper()

"""A space is read from a text, written again, and refused in a sentence where it makes no sense."""

from __future__ import annotations

import pytest

from backend import spaces
from backend.errors import Invalid
from backend.spaces import Dimension, Spacing


def test_a_space_is_read_as_it_is_written() -> None:
    found = spaces.parse("yolo", "lr=1e-5..1e-1:log, batch=4|8|16, mosaic=0..0.5, freeze=0..10")
    assert found == (
        Dimension("learning_rate", Spacing.LOG, 1e-5, 0.1),
        Dimension("batch", Spacing.CHOICE, choices=(4, 8, 16)),
        Dimension("mosaic", Spacing.LIN, 0.0, 0.5),
        Dimension("freeze", Spacing.INT, 0, 10),
    )
    assert spaces.parse("yolo", spaces.written(found)) == found


@pytest.mark.parametrize("family", spaces.TUNABLES)
def test_a_familys_own_space_is_read_as_it_is_written(family: str) -> None:
    whole = tuple(each.tried for each in spaces.TUNABLES[family])
    assert spaces.parse(family, spaces.written(whole)) == whole
    assert spaces.parse(family, " ") == spaces.usual(family)
    assert spaces.usual(family)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("speed=1..2", "yolo has no parameter 'speed' to search; there are learning_rate, batch"),
        ("lr=1e-3..1e-3", "The range learning_rate=1e-3..1e-3 is empty"),
        ("lr=1e-1..1e-3:log", "is reversed: write learning_rate=0.001..0.1:log"),
        ("mosaic=0..1:log", "is logarithmic, so it must begin above 0"),
        ("lr=0..20:lin", "learning_rate goes from 1e-09 to 10, so 0 cannot be tried"),
        ("batch=4|8|many", "says 'many' of batch, which is no whole number"),
        ("batch=4.5", "says '4.5' of batch, which is no whole number"),
        ("batch=4..16:log", "batch is a whole number, so :log is no way"),
        ("lr=1..2:fast", "A range is lin, log or int, not 'fast'"),
        ("lr=nan..1", "says 'nan' of learning_rate, which is no number"),
        ("lr=1e-4..", "says '' of learning_rate, which is no number"),
        ("lr", "says nothing of learning_rate: write learning_rate=0.0001..0.01:log"),
        ("lr=1e-4|1e-3,learning_rate=1e-4..1", "names learning_rate twice"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        spaces.parse("yolo", text)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("family", spaces.TUNABLES)
def test_every_value_that_is_tried_lies_between_its_bounds(family: str) -> None:
    for each in spaces.TUNABLES[family]:
        for share in (0.0, 0.3, 0.999999):
            assert each.least <= each.tried.at(share) <= each.most
        if each.tried.choices:
            assert {each.tried.at(share / 100) for share in range(100)} == set(each.tried.choices)


def test_values_go_where_a_training_looks_for_them() -> None:
    usual = {"epochs": 3, "batch": 16, "extra": {"half": False}}
    assert spaces.merged(usual, {"batch": 4, "mosaic": 0.5}) == {
        "epochs": 3,
        "batch": 4,
        "extra": {"half": False, "mosaic": 0.5},
    }

"""A cluster benchmark at the command line: what is refused, and what nodes cost."""

from __future__ import annotations

import pytest

from backend import prices
from backend.errors import Invalid
from tests.app.conftest import Said

ASKED = ("benchmark", "demo", "--family", "yolo", "--workers")


def test_a_benchmark_that_makes_no_sense_is_one_sentence(loupe: Said) -> None:
    loupe.json("sample", "demo", "--images", "12")
    assert "must be whole numbers" in loupe(*ASKED, "1,x")[2]
    assert "must be whole numbers" in loupe(*ASKED, "1,2", "--nodes", "0")[2]
    assert "NODE=NUMBER" in loupe(*ASKED, "1,2", "--price", "dear")[2]
    assert "no scaling 'brave'" in loupe(*ASKED, "1,2", "--scaling", "brave")[2]
    assert "None of 1, 3 processes" in loupe(*ASKED, "1,3", "--nodes", "2")[2]
    assert (
        "1 process cannot be shared alike by 2 nodes: leave 1 out of the workers"
        in (loupe(*ASKED, "1,2", "--nodes", "2")[2])
    )
    assert (
        "leave 3 out of the actors, or measure on one node, too"
        in (loupe(*ASKED, "2,4", "--nodes", "2", "--actors", "2,3")[2])
    )
    assert "say --workers 1,2, too" in loupe("benchmark", "demo", "--family", "yolo")[2]
    assert "say --family" in loupe("benchmark", "demo", "--workers", "1,2")[2]
    assert loupe(*ASKED, "1,x")[0] == 1
    assert loupe.json("jobs") == []


def test_a_node_costs_what_its_type_its_name_or_any_node_does() -> None:
    found = prices.read(["large=1.2,left=0.5", "node=0.1"])
    assert prices.of(found, [["large", "left"], ["left"], ["right"]]) == pytest.approx(1.8)
    assert prices.of({"large": 1.2}, [["large"], ["right"]]) is None
    assert prices.of(found, []) is None
    for wrong in ("large", "=1", "large=-1", "large=inf", "large=x"):
        with pytest.raises(Invalid, match="NODE=NUMBER"):
            prices.read([wrong])

"""What the guide says of adding things is done in a copy, and holds there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.guide import following, paper
from tests.guide.following import Copy

NEEDS = "from app import site; site.build(); print(site.needs('about'))"
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"
QUIET = ("-q", "-p", "no:cacheprovider")


@pytest.fixture
def house(tmp_path: Path) -> Copy:
    """A copy of the whole, without what was added to another one."""
    return following.copy(tmp_path / "loupe")


def add(house: Copy, title: str) -> list[following.Step]:
    """Do what a section says, and see that what it adds is written as the rest is."""
    steps = house.follow(following.section("adding", title))
    assert steps
    changed = [step.path for step in steps if step.path.endswith(".py")]
    new = [step.path for step in steps if not step.how and step.path.endswith(".py")]
    if new:
        house.run("-m", "ruff", "check", "--no-cache", *new)
    if changed:
        house.run("-m", "ruff", "format", "--check", "--no-cache", *changed)
    return steps


def contract(house: Copy, name: str, *wanted: str) -> int:
    """Run a contract test there; how many of its cases passed."""
    said = house.run("-m", "pytest", name, *QUIET, *wanted)
    found = re.search(r"(\d+) passed", said)
    assert found, said
    return int(found[1])


def test_a_format_is_added(house: Copy) -> None:
    add(house, "A label format")
    assert contract(house, "tests/contracts/test_formats.py", "-k", "lines") >= 7


def test_a_job_kind_is_added(house: Copy) -> None:
    add(house, "A job kind")
    assert contract(house, "tests/contracts/test_kinds.py") >= 5
    assert contract(house, "tests/workers/handlers/test_census.py") == 1


def test_a_family_is_added(house: Copy) -> None:
    add(house, "A model family")
    assert contract(house, "tests/contracts/test_families.py", "-k", "spots") >= 6


def test_a_runtime_is_added(house: Copy, weights: Path, cocoval: Path) -> None:
    assert weights.is_dir()
    assert cocoval.is_dir()
    add(house, "A runtime")
    assert contract(house, "tests/contracts/test_runtimes.py", "-k", "eager") == 1


def test_a_page_is_added(house: Copy) -> None:
    add(house, "A page")
    assert "pages/about/about.js" in house.run("-c", NEEDS)


def test_a_room_is_added(house: Copy) -> None:
    add(house, "A room")
    assert contract(house, "tests/test_packages.py", "-k", "shifts") == 1
    assert " kept, 0 broken." in house.run("-c", LINT, "--no-cache")
    (house.root / "backend/models/early.py").write_text("from backend.shifts import turns\n")
    with pytest.raises(AssertionError, match=r"backend\.models is not allowed to import"):
        house.run("-c", LINT, "--no-cache")


def test_every_way_to_add_that_is_told_is_tried() -> None:
    titles = re.findall(r"^## (.+)$", paper.page("adding"), flags=re.MULTILINE)
    tried = re.findall(r'add\(house, "(.+)"\)', Path(__file__).read_text("utf-8"))
    assert titles == [*tried, "A page of the guide"]

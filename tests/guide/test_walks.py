"""The walks of the guide pass files and functions that are there, each reached from before."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

from app import server
from backend.storage.tables import Base
from tests.guide import paper

TEXT = paper.page("how-it-works").partition("\n## Five walks\n")[2]
WALKS = dict(re.findall(r"^### (.+)\n((?:.+\n)+)", TEXT, flags=re.MULTILINE))
STEP = re.compile(r"^(\d+)\. `([\w/.]+)`, `(\w+)`: (.+)$", re.MULTILINE)
PLACE = re.compile(r"`((?:GET|PUT|POST) /[^`]+)`")
TABLE = re.compile(r"the table `(\w+)`")
DEFINED = r"^\s*(?:export )?(?:async )?(?:function |class |override )?{}(?:\(| extends | \{{)"


def steps(walk: str) -> list[tuple[str, str, str]]:
    """The file, the name and the words of each step."""
    return [found[1:] for found in STEP.findall(WALKS[walk])]


def defined(path: str) -> set[str]:
    """The functions and classes of a module of Python, those inside of classes too."""
    tree = ast.parse((paper.ROOT / path).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@functools.cache
def asks(path: str) -> set[str]:
    """The files that a file imports, or names by a string as tables do."""
    text = (paper.ROOT / path).read_text("utf-8")
    if path.endswith(".js"):
        named = re.findall(r'["\'](\.{1,2}/[\w./-]+\.js)["\']', text)
        there = [((paper.ROOT / path).parent / one).resolve() for one in named]
        return {one.relative_to(paper.ROOT).as_posix() for one in there}
    tree = ast.parse(text)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{one.name}" for one in node.names)}
            passed_on = _passed_on(str(node.module))
            names |= {passed_on[one.name] for one in node.names if one.name in passed_on}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return {file for name in names for file in _files(name)}


@functools.cache
def _passed_on(package: str) -> dict[str, str]:
    """The modules from which a package has the names that it passes on."""
    path = paper.ROOT / Path(*package.split(".")) / "__init__.py"
    if not path.is_file():
        return {}
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    brought = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {one.name: str(node.module) for node in brought for one in node.names}


def _files(module: str) -> list[str]:
    if not re.fullmatch(r"(?:app|backend|workers)(?:\.\w+)+", module):
        return []
    path = Path(*module.split("."))
    both = (path.with_suffix(".py"), path / "__init__.py")
    return [one.as_posix() for one in both if (paper.ROOT / one).is_file()]


def answers(path: str) -> set[str]:
    """The addresses of ours that a module of the routes answers, with their methods."""
    if not path.startswith("app/routes/"):
        return set()
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    return {
        f"{method} {route.path.replace(':path}', '}')}"
        for route in module.router.routes
        for method in route.methods
    }


def test_there_are_five_walks_numbered_without_a_gap() -> None:
    assert list(WALKS) == ["A box drawn", "Retrain", "Detect", "A decision", "An import"]
    for text in WALKS.values():
        numbers = [int(one[0]) for one in STEP.findall(text)]
        assert numbers == list(range(1, len(text.splitlines()) + 1))


@pytest.mark.parametrize("walk", WALKS)
def test_what_a_step_names_is_there(walk: str) -> None:
    for path, name, _ in steps(walk):
        if path.endswith(".py"):
            assert name in defined(path), (path, name)
        else:
            text = (paper.ROOT / path).read_text("utf-8")
            assert re.search(DEFINED.format(name), text, re.MULTILINE), (path, name)


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_comes_by_no_file_twice(walk: str) -> None:
    files = [path for path, _, _ in steps(walk)]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("walk", WALKS)
def test_each_step_is_reached_from_one_before(walk: str) -> None:
    passed: list[str] = []
    places: set[str] = set()
    tables: set[str] = set()
    for path, _, words in steps(walk):
        known = any(path in asks(one) for one in passed)
        queued = tables & set(TABLE.findall(words))
        assert known or not passed or queued or places & answers(path), path
        passed.append(path)
        places |= set(PLACE.findall(words))
        tables |= set(TABLE.findall(words))
    assert tables <= set(Base.metadata.tables)


def test_each_address_of_a_walk_is_answered_by_the_file_that_follows() -> None:
    rooms = {f"app/routes/{room.replace('.', '/')}.py" for room in server.ROOMS}
    named = 0
    for walk in WALKS:
        told = steps(walk)
        for (_, _, words), (path, _, _) in pairwise(told):
            wanted = set(PLACE.findall(words))
            named += len(wanted)
            assert not wanted or (path in rooms and wanted <= answers(path)), (walk, path)
    assert named >= len(WALKS)

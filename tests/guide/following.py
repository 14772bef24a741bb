"""Does what a page of the guide says, in a copy of Loupe: new files, and rows of tables."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.guide import paper

PARTS = ("app", "backend", "workers", "assets", "tests", "pyproject.toml", "README.md", ".ci")
BLOCK = re.compile(
    r"^`([\w./]+)`(?:, (among its imports|before|at the end of|in place of)(?: `([^`]+)`)?)?:\n\n"
    r"```\w+\n(.*?)^```$",
    flags=re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Step:
    """What is put where."""

    path: str
    how: str
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of this repository in which things may be added."""

    root: Path

    def follow(self, section: str) -> list[Step]:
        """Do what a section says."""
        done = list(steps(section))
        for step in done:
            path = self.root / step.path
            text = path.read_text("utf-8") if step.how else ""
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_put(step, text), "utf-8")
        return done

    def run(self, *command: str) -> str:
        """Run Python there; what it said, where it went well."""
        # What the tests around it share among processes, a contract of a second is not worth.
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTEST_ADDOPTS": ""}
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def copy(root: Path) -> Copy:
    """Everything that the tests of a contract need."""
    for name in PARTS:
        source = paper.ROOT / name
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(source, root / name, ignore=left_out)
        else:
            shutil.copy(source, root / name)
    return Copy(root)


def section(page: str, title: str) -> str:
    """What stands below a heading."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", paper.page(page), re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def steps(text: str) -> Iterator[Step]:
    """What a text says is put where."""
    for path, how, what, block in BLOCK.findall(text):
        yield Step(path, how, what.replace("\\n", "\n"), block)


def _put(step: Step, text: str) -> str:
    if not step.how:
        return step.text
    if step.how == "in place of":
        assert text.count(step.what) == 1, step
        return text.replace(step.what, step.text.rstrip("\n"))
    if step.how == "among its imports":
        first = "from __future__ import annotations\n"
        assert first in text, step
        return text.replace(first, f"{first}\n{step.text}", 1)
    lines = text.splitlines(keepends=True)
    at, indent = _place(step, text)
    lines[at:at] = [textwrap.indent(step.text, " " * indent) + ("\n\n" * (step.how == "before"))]
    return "".join(lines)


def _place(step: Step, text: str) -> tuple[int, int]:
    """The line before which it goes, and how far it stands in."""
    node = next(one for one in ast.parse(text).body if step.what in _names(one))
    if step.how == "before":
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        return first - 1, 0
    assert isinstance(node, ast.Assign | ast.AnnAssign)
    rows = node.value
    if isinstance(rows, ast.DictComp):
        rows = rows.generators[0].iter
    assert isinstance(rows, ast.Tuple | ast.Dict), step
    last = rows.elts[-1] if isinstance(rows, ast.Tuple) else rows.keys[-1]
    assert last is not None
    assert rows.end_lineno is not None
    return rows.end_lineno - 1, last.col_offset


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {one.id for one in targets if isinstance(one, ast.Name)}

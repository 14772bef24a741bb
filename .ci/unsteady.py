"""Names the tests that failed among others and passed alone; refuses where they are many."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

MOST = 5


def main(report: str) -> str | None:
    """Why the tests count as failed all the same, or None.

    Those of one file count once: what they share, they lose together.
    """
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    names = [f"{one.get('classname')}::{one.get('name')}" for one in cases]
    if not names:
        return "The tests failed, and none of them can be named."
    sys.stdout.write("".join(f"Unsteady: {name}\n" for name in names))
    files = len({one.get("classname") for one in cases})
    many = f"Tests of {files} files are unsteady; those of {MOST} at most may be."
    return many if files > MOST else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

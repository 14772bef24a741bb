"""Fail when a test was skipped that this machine is meant to run."""

from __future__ import annotations

import os
import sys
from xml.etree import ElementTree

# Half precision needs a GPU; and without the real pictures those tests may be skipped that ask
# for them.
NO_GPU = "this machine does not compute in f16"
ALLOWED = (NO_GPU,) if os.environ.get("LOUPE_REAL_DATA") else (NO_GPU, "LOUPE_REAL_DATA")


def skipped(report: str) -> list[str]:
    """The skipped tests, each with its reason."""
    found = []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skip = case.find("skipped")
        if skip is not None:
            reason = skip.get("message", "")
            if not any(word in reason for word in ALLOWED):
                found.append(f"{case.get('classname')}::{case.get('name')}: {reason}")
    return found


if __name__ == "__main__":
    left_out = skipped(sys.argv[1])
    sys.stdout.write("".join(f"{line}\n" for line in left_out))
    sys.exit(1 if left_out else 0)

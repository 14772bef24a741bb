"""Ten people do at random what a project allows, for minutes, while the server is killed.

Prints what was done and answered, then asks every rule of `loupe check`. Run:
python -m tests.benchmarks.site.random_walk [SECONDS KILLS SEED]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from backend.upkeep import checks
from tests import walking
from tests.workers import besieged


def main() -> None:
    """Walk, tell, check; fails where anything is amiss."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 300.0
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory(prefix="loupe-walk-") as home:
        with besieged.serving_at(Path(home), worker=True) as site:
            runs = walking.fill(site.database, site.files, 600)  # purges take most of them
            people = walking.walk(site.url, runs, seed, seconds, site.kill, kills, work=True)
            found = checks.check(site.database, site.files)
        print(f"seed {seed}, {seconds:.0f} s, {kills} kills of the server")
        walking.tell(people)
        print(f"{found.rules} rules, {found.files} files: {len(found.findings)} findings")
        for one in found.findings:
            print(one.sentence)
        log = (Path(home) / "serve.log").read_text(errors="replace")
        print(f"{log.count('Traceback')} tracebacks in the server's log")
        if found.findings or any(one.failures for one in people):
            print(log[-5000:])
            sys.exit(1)


if __name__ == "__main__":
    main()

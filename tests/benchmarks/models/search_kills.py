"""Searches of twelve trials killed at twenty random moments, beside ones that nobody disturbs.

`python -m tests.benchmarks.models.search_kills [--seed 0] [--keep]`. First the job's own process,
twenty times. Then on a cluster of a head and two nodes with a made-up card each: that process,
actors that carry out trials, raylets, and the head with all there is; and workers under a search of
a golden model.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from backend.domain import FINAL, JobState, Trial, TrialState
from backend.models import searches, trials
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers import running
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.tuning import curves, killing, nodes
from tests.workers.tuning.killing import Ended
from tests.workers.tuning.nodes import Nodes

TRIALS, KILLS, PAUSE = 12, 20, 0.4
ON_CLUSTER = {"process": 5, "actor": 4, "raylet": 3, "head": 3}
WORKERS = KILLS - sum(ON_CLUSTER.values())


def main(seed: int, keep: bool) -> None:
    """Each once undisturbed and once killed; prints what became of trials and epochs."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, made in _searched(Path(folder), seed):
            undisturbed, killed = made
            for row in _told(undisturbed, killed):
                rows.append(replace(row, what=f"{name}: {row.what}"))
                print(rows[-1], flush=True)
        rows.append(_workers(Path(folder) / "workers", seed))
        print(rows[-1], flush=True)
    if keep:
        how = f"--seed {seed}"
        results.keep("search_kills", [replace(row, how=how) for row in rows])


def _searched(folder: Path, seed: int) -> Iterator[tuple[str, tuple[Ended, Ended]]]:
    alone = [killing.searched(folder / f"alone{n}", TRIALS, n, seed) for n in (0, KILLS)]
    yield "the job's process", (alone[0], alone[1])
    curves.prepare()
    with nodes.cluster(0, 1, 1) as cluster:
        spread = [_on_cluster(folder / f"spread{n}", cluster, seed, n) for n in (0, 1)]
    yield "on a cluster", (spread[0], spread[1])


def _told(undisturbed: Ended, killed: Ended) -> list[Figure]:
    tried = [each[2] for each in killed.trials]
    finals = {TrialState.DONE.value, TrialState.STOPPED.value}
    ended = sum(each[1] in finals for each in killed.trials)
    gaps = [number for number, _, _, curve, _ in killed.trials
            if [epoch for epoch, _ in curve] != list(range(1, len(curve) + 1))]  # fmt: skip
    twice = len(tried) - len({str(sorted(each.items())) for each in tried})
    same = tried == [each[2] for each in undisturbed.trials]
    return [
        Figure("kills", killed.kills, ""),
        Figure("trials that have ended", ended, f"of {TRIALS}", f"{len(gaps)} with gaps"),
        Figure("configurations tried twice", twice, "", f"all as undisturbed: {same}"),
        Figure("epochs done again", killed.again, f"of {len(killed.epochs)}"),
        Figure("the best", killed.best, "", f"undisturbed it is {undisturbed.best}"),
    ]


def _on_cluster(home: Path, cluster: Nodes, seed: int, killed: int) -> Ended:
    """A search by two actors; what is killed of the cluster stands again afterwards."""
    place = places.make(home)
    project = place.sample(12)
    with place.database.write.begin() as session:
        begun = searches.ask(
            session, project, curves.NAME, trials=TRIALS, seed=seed,
            parameters={"extra": {"pause": PAUSE}},
        )  # fmt: skip
    story, chance = home / "jobs" / str(begun.job.id) / "epochs.txt", random.Random(seed)
    left = [what for what, count in ON_CLUSTER.items() for _ in range(count * killed)]
    chance.shuffle(left)
    kills: Counter[str] = Counter()
    while killing.state(place, begun.job.id) not in FINAL:
        process = killing.start(home, **cluster.settings)
        while left and process.poll() is None:
            killing.wait(process, story, chance)
            if process.poll() is not None:
                break
            what = left.pop()
            kills[what] += _kill(what, place, cluster, process, begun.job.id, chance)
            print(f"  {what} killed, {sum(kills.values())} in all", flush=True)
        process.wait()
    assert killing.state(place, begun.job.id) is JobState.DONE
    found = killing.ended(place, begun, story, sum(kills.values()))
    place.database.close()
    return found


def _kill(
    what: str,
    place: Place,
    cluster: Nodes,
    process: subprocess.Popen[bytes],
    job: int,
    chance: random.Random,
) -> int:
    if what == "process":
        return killing.kill(place, process, job)
    if what == "actor":
        found = cluster.actors("Trier")
        if found:
            chance.choice(found).kill()
        return len(found[:1])
    numbers = [chance.choice((1, 2))] if what == "raylet" else [2, 1, 0]
    for number in numbers:
        nodes.end(cluster.nodes[number])
    if what == "head":
        _until_given_up(process, place, job)
    for number in reversed(numbers):
        cluster.nodes[number] = cluster.start(number)
    return 1


def _until_given_up(process: subprocess.Popen[bytes], place: Place, job: int) -> None:
    """The worker ends the job's process where its cluster is gone."""
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        killing.kill(place, process, job)


def _workers(home: Path, seed: int) -> Figure:
    """Workers killed under a search of a golden model; each is followed by another."""
    home.mkdir()
    chance, kills = random.Random(seed), 0
    with running.house(home) as house:
        place = places.make(home)
        project = place.sample(60)
        with place.database.write.begin() as session:
            begun = searches.ask(session, project, "golden", trials=TRIALS, seed=seed, at_once=1)
        while (job := house.get(begun.job.id)).state not in FINAL:
            worker = house.start_worker(LOUPE_MLFLOW_URI="off")
            wanted = _count(place, begun) + chance.randrange(1, 3)
            while (job := house.get(begun.job.id)).state not in FINAL and (
                kills == WORKERS or _count(place, begun) < wanted
            ):
                time.sleep(0.05)
            if job.state not in FINAL:
                time.sleep(chance.random())
                worker.kill()
                worker.wait()
                kills += 1
        house.stop()
        found = _trials(place, begun)
        place.database.close()
    states: Mapping[str, int] = Counter(one.state.value for one in found)
    distinct = len({str(one.parameters) for one in found})
    spread = f"{kills} kills, {distinct} configurations, {dict(states)}, attempt {job.attempt}"
    return Figure(f"workers: the job is {job.state}, trials", len(found), f"of {TRIALS}", spread)


def _trials(place: Place, begun: searches.Begun) -> list[Trial]:
    with place.database.read() as session:
        return trials.of_search(session, begun.search.id)


def _count(place: Place, begun: searches.Begun) -> int:
    return sum(one.state is not TrialState.RUNNING for one in _trials(place, begun))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    main(asked.seed, asked.keep)

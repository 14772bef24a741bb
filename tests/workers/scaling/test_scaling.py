"""A cluster benchmark from the question to its table: clean starts, each turn once, all told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

from backend.domain import Job, Task
from backend.errors import Invalid, Refused
from backend.jobs import claims
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import trainings
from backend.models.scaling import scalings
from backend.models.scaling.scaling_plan import DETECT, TRAIN, Plan
from backend.models.scaling.scalings import ClusterBenchmark
from backend.projects import catalogue
from backend.storage.tables import TrackedRunRow
from tests.workers.families import drawn
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.scaling import devices
from workers import cluster, handlers
from workers.scaling import turns

pytestmark = pytest.mark.usefixtures("mlflow_is_told")
MANY = (1, 2, 4, 16, 64)


@dataclass
class Bench:
    """A project of squares and discs, whose trainings are measured here."""

    place: Place
    project: int

    def ask(self, family: str, plan: Plan, **parameters: Any) -> Job:
        with self.place.database.write.begin() as session:
            return scalings.ask(session, self.project, family, plan, parameters=parameters, seed=1)

    def claim(self) -> Job:
        return self.place.claim()

    def table(self, job: Job) -> ClusterBenchmark:
        with self.place.database.read() as session:
            return scalings.of_job(session, job.id)

    def tracked(self, job: Job) -> list[TrackedRunRow]:
        with self.place.database.read() as session:
            above = select(TrackedRunRow.id).where(TrackedRunRow.job_id == job.id)
            query = select(TrackedRunRow).where(TrackedRunRow.parent_id.in_(above))
            return list(session.scalars(query.order_by(TrackedRunRow.id)))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    place, single = places.make(folder / "home"), drawn.single(folder / "pictures", 96)
    with place.database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, drawn.CLASSES).id
        new = [
            NewImage(
                one.name, place.files.put_file(one.path), 64, 64, label=one.label,
                split=one.split, labelled=True,
            )
            for one in single.examples
        ]  # fmt: skip
        images.add(session, project, new, "")
    devices.prepare()
    ray = cluster.connect("local")
    yield Bench(place, project)
    devices.forget()
    place.database.close()
    ray.shutdown()


def test_a_table_over_one_to_sixty_four_made_up_devices(bench: Bench) -> None:
    plan = Plan(MANY, repeats=2, device="cpu", cores=1, prices={"made-up": 3.6})
    job = bench.ask(devices.NAME, plan)
    devices.TRAINED.clear()
    bench.place.carry_out(bench.claim())
    assert [*MANY, *reversed(MANY)] == devices.TRAINED
    found = bench.table(job).lines
    assert [(line.processes, line.turns, line.batch) for line in found] == [
        (count, 2, 64) for count in MANY
    ]
    assert (found[0].speedup, found[0].efficiency, found[0].equal) == (1, 1, None)
    speedups = [line.speedup or 0 for line in found]
    assert speedups == sorted(speedups)
    assert all((line.efficiency or 0) < 1.05 for line in found)
    assert [line.equal for line in found[1:]] == [True] * 4
    assert found[-1].rate is not None
    assert found[-1].cost == pytest.approx(8 * 0.001 * 1000 / found[-1].rate)
    runs = bench.tracked(job)
    assert [run.tags["processes"] for run in runs] == list(MANY)
    assert all((run.state, run.figures) == ("done", 2) for run in runs)
    assert runs[1].tags["distributed"] is True
    assert {"driver_node_type", "worker_node_types", "nodes", "batch_each"} <= set(runs[0].tags)


def test_where_each_process_does_as_much_as_one_the_images_grow(bench: Bench) -> None:
    job = bench.ask(devices.NAME, Plan((1, 4), scaling="weak", repeats=1), batch=4, epochs=2)
    bench.place.carry_out(bench.claim())
    one, four = bench.table(job).lines
    assert (one.batch, four.batch, one.batch_each, four.batch_each) == (4, 16, 4, 4)
    assert bench.table(job).images == 72
    with bench.place.database.read() as session:
        learned = [turn.figures["images"] for turn in scalings.measured(session, job.id)]
    assert learned == [18, 72]


def test_killed_in_the_middle_what_was_measured_is_not_measured_again(bench: Bench) -> None:
    class Killed(BaseException):
        """The process dies."""

    def die() -> None:
        raise Killed

    job = bench.ask(devices.NAME, Plan((1, 2, 4), repeats=2), epochs=2)
    devices.TRAINED.clear()
    devices.AT[:] = [lambda: None, lambda: None, lambda: None, die]
    claimed = bench.claim()
    with pytest.raises(Killed):
        handlers.find(claimed.kind).run(bench.place.context(claimed))
    bench.place.carry_out(claimed)
    assert devices.TRAINED == [1, 2, 4, 4, 4, 2, 1]
    assert [line.turns for line in bench.table(job).lines] == [2, 2, 2]
    assert [run.figures for run in bench.tracked(job)] == [2, 2, 2]


def test_a_configuration_that_fails_is_told_and_the_others_go_on(bench: Bench) -> None:
    def refuse() -> None:
        raise Refused("Its network ran out of memory.")

    def burst() -> None:
        raise RuntimeError("CUDA error: no room\nand a long story")

    job = bench.ask(devices.NAME, Plan((1, 2, 4, 8), repeats=1), epochs=2)
    devices.AT[:] = [lambda: None, refuse, burst]
    bench.place.carry_out(bench.claim())
    assert [line.error for line in bench.table(job).lines] == [
        "",
        "Its network ran out of memory.",
        "It stopped with RuntimeError: CUDA error: no room.",
        "",
    ]
    assert [run.state for run in bench.tracked(job)] == ["done", "failed", "failed", "done"]


def test_a_turn_that_processes_die_of_is_told_and_the_others_go_on(bench: Bench) -> None:
    job = bench.ask(devices.NAME, Plan((2, 4), repeats=1), epochs=2)
    context = bench.place.context(bench.claim())
    (context.folder / turns.TRIES).write_text(f"0 {turns.MOST_TRIES}")
    handlers.find("scale").run(context)
    died, measured = bench.table(job).lines
    assert (died.turns, died.error) == (0, turns.DIED)
    assert (measured.turns, measured.error) == (1, "")
    with bench.place.database.write.begin() as session:
        claims.finish(session, context.job, {})


def test_where_nothing_could_be_measured_nobody_tries_it_again(bench: Bench) -> None:
    def refuse() -> None:
        raise Refused("Its network ran out of memory.")

    bench.ask(devices.NAME, Plan((4,), repeats=1), epochs=2)
    devices.AT[:] = [refuse]
    claimed = bench.claim()
    with pytest.raises(Refused, match=r"Nothing could be measured\. Its network"):
        bench.place.carry_out(claimed)
    with bench.place.database.write.begin() as session:
        claims.fail(session, claimed, "Nothing could be measured.")


@pytest.mark.again
def test_one_and_two_real_processes_learn_the_same_and_detect(bench: Bench) -> None:
    plan = Plan((1, 2), actors=(1, 2), repeats=1, device="cpu", cores=1)
    job = bench.ask("classifier", plan, variant="small", image_size=32, batch=8, epochs=2)
    bench.place.carry_out(bench.claim())
    found = bench.table(job)
    assert [(line.work, line.processes, line.error) for line in found.lines] == [
        (TRAIN, 1, ""), (TRAIN, 2, ""), (DETECT, 1, ""), (DETECT, 2, ""),
    ]  # fmt: skip
    one, two, *looked = found.lines
    assert one.loss == pytest.approx(two.loss, rel=0.25)
    assert all(line.interval for line in (one, two))
    assert two.equal is not None
    for line in (one, two, *looked):
        assert (line.startup or 0) > 0
        assert (line.rate or 0) > 0
    assert "cores" in found.about["worker_node_types"]


@pytest.mark.parametrize(
    ("plan", "asked", "said"),
    [
        (Plan((1, 2), scaling="brave"), {}, "no scaling 'brave'"),
        (Plan((1, 2), repeats=0), {}, "from 1 to 20"),
        (Plan((1, 3), nodes=(2,)), {}, "None of 1, 3 processes"),
        (Plan((1, 2), device="tpu"), {}, "no device 'tpu'"),
        (Plan((1, 2)), {"epochs": 1}, "at least 2 epochs"),
        (Plan((1, 5)), {}, "cannot be shared alike by 5"),
        (Plan((1, 64), scaling="weak"), {}, "fewer than one batch of 4096"),
        (Plan((1, 2)), {"batch": 4096}, "fewer than one batch"),
        (Plan(tuple(range(1, 50))), {}, "more than the 40"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(
    bench: Bench, plan: Plan, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises((Invalid, Refused), match=said):
        bench.ask(devices.NAME, plan, **asked)
    with pytest.raises(AssertionError):
        bench.claim()


def test_a_family_of_one_process_and_a_project_without_validation_are_refused(
    bench: Bench,
) -> None:
    with pytest.raises(Refused, match="learns in one process"):
        bench.ask("golden", Plan((1, 2)))
    with bench.place.database.write.begin() as session:
        ready = trainings.prepare(session, bench.project, devices.NAME, "", {}, 1, "")
        with pytest.raises(Refused, match="no validation images"):
            scalings._check_shares(Plan((1,)), ready.values, {"train": 72})
        session.rollback()

"""The command that measures: a model in each runtime, or a training over many processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend import prices, spaces
from backend.errors import Invalid
from backend.families import FAMILIES
from backend.models import trainings
from backend.models.scaling import scaling_plan, scalings
from backend.models.scaling.scaling_plan import Plan
from backend.models.scaling.scaling_table import Line
from backend.projects import catalogue
from backend.runs import forecast

WORTHS = ("map50", "map50_95", "accuracy", "ece")
COLUMNS = (
    "measured", "start-up, s", "images/s", "from", "to", "speed-up", "efficiency", "loss", "worth",
    "equal", "cost of 1,000",
)  # fmt: skip
GIVEN = ("epochs", "image_size", "batch", "variant")


def add_to(cli: typer.Typer) -> None:
    """Make this command of `loupe`."""
    cli.command()(benchmark)


def benchmark(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    model: Annotated[str, typer.Option(help="vN or champion.")] = "champion",
    workers: Annotated[
        str, typer.Option(help="Train over so many processes, such as 1,2,4; needs --family.")
    ] = "",
    family: Annotated[str, typer.Option(help=f"Which to train: {', '.join(FAMILIES)}.")] = "",
    nodes: Annotated[str, typer.Option(help="Over so many nodes, such as 1,2.")] = "1",
    actors: Annotated[
        str, typer.Option(help="Detect in so many processes; 0: none.", show_default="as --workers")
    ] = "",
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    cores: Annotated[int, typer.Option(help="Of each process; 0: a fair share of a node.")] = 0,
    scaling: Annotated[
        str, typer.Option(help="strong: all share the work of one; weak: each does as much.")
    ] = "strong",
    repeats: Annotated[int, typer.Option(help="How often each is measured.")] = 3,
    price: Annotated[
        list[str] | None,
        typer.Option(help="NODE=1.20, an hour of a type or name of nodes; node: all others."),
    ] = None,
    weights: Annotated[
        str, typer.Option(help="Start from a weights file, from vN, or from scratch.")
    ] = "",
    epochs: Annotated[int | None, typer.Option(help="Of each training, at least 2.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Longer side, in pixels.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Images at a time: in all, or with weak of each process.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Size of the network, such as n or s.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the family, NAME=VALUE; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same split.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure each runtime and precision of a model; with --workers, what more processes bring.

    Example: loupe benchmark boards --family yolo --workers 1,2 --repeats 3
    """
    if not workers and not family:
        _of_runtimes(project, model, as_json)
        return
    if not workers or not family:
        missing = "--workers 1,2" if family else f"--family {' | '.join(FAMILIES)}"
        raise Invalid(f"What more processes bring is measured by training: say {missing}, too.")
    counts = scaling_plan.numbers(workers, "workers")
    detecting = () if actors == "0" else scaling_plan.numbers(actors or workers, "actors")
    plan = Plan(
        counts,
        scaling_plan.numbers(nodes, "nodes"),
        detecting,
        scaling,
        repeats,
        device,
        cores,
        prices.read(price or ()),
    )
    given = (epochs, image_size, batch, variant)
    named = {n: value for n, value in zip(GIVEN, given, strict=True) if value is not None}
    parameters = {**spaces.read(family, settings or ()), **named}
    _of_cluster(project, family, plan, as_json, start=weights, parameters=parameters, seed=seed)


def _of_cluster(project: str, family: str, plan: Plan, as_json: bool, **how: Any) -> None:
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found = catalogue.find(session, project)
            job = scalings.ask(session, found.id, family, plan, author=tools.me(), **how)
        job = waiting.to_the_end(at, job, as_json)
        with at.database.read.begin() as session:
            told = scalings.of_job(session, job.id)
    if as_json:
        terminal.document(dict(job.result))
        return
    terminal.table(COLUMNS, [_row(line) for line in told.lines])
    for failed in (line for line in told.lines if line.error):
        terminal.warn(f"{failed.name.capitalize()}: {failed.error}")


def _row(line: Line) -> Sequence[str]:
    worth = "" if line.value is None else f"{line.figure} {line.value:.3f}{_between(line)}"
    equal = {None: "", True: "yes", False: "no"}[line.equal]
    return (
        line.name,
        _figure(line.startup, 1),
        _figure(line.rate, 1),
        _figure(line.slowest, 1),
        _figure(line.quickest, 1),
        _figure(line.speedup, 2),
        _figure(line.efficiency, 2),
        _figure(line.loss, 3),
        worth,
        equal,
        _figure(line.cost, 4),
    )


def _between(line: Line) -> str:
    low, high = line.interval or (None, None)
    return "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _of_runtimes(project: str, model: str, as_json: bool) -> None:
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found = catalogue.find(session, project)
            job = trainings.benchmark(session, found.id, model, tools.me())
        job = waiting.to_the_end(at, job, as_json)
    if as_json:
        terminal.document(dict(job.result))
        return
    rows = job.result["runtimes"]
    worths = [name for name in WORTHS if any(name in row for row in rows)]
    columns = ("runtime", "precision", *worths, "images_per_second", "refused")
    terminal.table(columns, [[row.get(name, "") for name in columns] for row in rows])
    measured = [row for row in rows if "refused" not in row]
    if any(row["precision"] == forecast.QUICK for row in measured):
        terminal.say(forecast.loss(measured))

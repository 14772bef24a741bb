"""Commands for models: train one, list them, measure one, list runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend import spaces
from backend.domain import Model, ModelState
from backend.errors import NotFound, Refused
from backend.families import FAMILIES
from backend.models import registry, trainings
from backend.projects import catalogue
from backend.storage import findings

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Wait = Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")]
GIVEN = (
    "epochs", "image_size", "batch", "variant", "workers", "device", "memory_gb", "patience",
    "learning_rate",
)  # fmt: skip
FIGURES = ("map", "map50", "map50_95", "accuracy", "top3", "top5", "macro_f1", "ece")

COLUMNS = {"ap": "AP", "precision": "precision", "recall": "recall", "f1": "F1"}


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (train, models, evaluate, judge, runs):
        cli.command()(command)


def train(
    project: Project,
    family: Annotated[str, typer.Option(help=f"{', '.join(FAMILIES)}.")],
    weights: Annotated[
        str, typer.Option(help="Start from a weights file, from vN, or from scratch.")
    ] = "",
    epochs: Annotated[int | None, typer.Option(help="How often to see every image.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Longer side, in pixels.")] = None,
    batch: Annotated[int | None, typer.Option(help="Images at a time.")] = None,
    variant: Annotated[
        str | None, typer.Option(help="Size of the network, such as n or s.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes, on one node or many.")] = None,
    device: Annotated[
        str | None, typer.Option(help="What each process computes on: auto, cpu or gpu.")
    ] = None,
    memory: Annotated[float | None, typer.Option(help="GB of memory for each process.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without progress after which it ends.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="How far each step goes; 0: as the family likes.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the family, NAME=VALUE; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same split.")] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Train a model on the labelled images of a project.

    Example: loupe train boards --family golden --wait
    """
    if not family:
        raise Refused(f"Name a family: --family {' | '.join(FAMILIES)}.")
    given = (
        epochs, image_size, batch, variant, workers, device, memory, patience, learning_rate,
    )  # fmt: skip
    named = {n: value for n, value in zip(GIVEN, given, strict=True) if value is not None}
    parameters = {**spaces.read(family, settings or ()), **named}
    with tools.open_tools() as at:
        started = _started(at, project, family, start=weights, parameters=parameters, seed=seed)
        if wait:
            waiting.to_the_end(at, started.job, as_json)
        _tell(at, started, as_json)


def _started(at: tools.Tools, project: str, family: str, **given: Any) -> trainings.Started:
    with at.database.write.begin() as session:
        found = catalogue.find(session, project)
        return trainings.retrain(session, found.id, family, author=tools.me(), **given)


def _tell(at: tools.Tools, started: trainings.Started, as_json: bool) -> None:
    """What has become of a training, or that it waits."""
    with at.database.read.begin() as session:
        told = registry.details(session, started.model.id)
    model, job = told.model, started.job.id
    if as_json:
        figures = dict(model.metrics)
        terminal.document(
            {"job": job, "model": model.name, "family": model.family, "metrics": figures}
        )
    elif model.state is ModelState.READY:
        terminal.say(f"{model.name} is ready: {_figures(model)}. {registry.verdict(told)}")
    else:
        terminal.say(f"{model.name} waits as job {job}: loupe jobs --watch")


def models(project: Project, as_json: AsJson = False) -> None:
    """List the models of a project.

    Example: loupe models boards
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = registry.models(session, catalogue.find(session, project).id)
    rows = [
        {
            "name": one.name,
            "family": one.family,
            "state": one.state.value,
            "champion": one.champion,
            "metrics": dict(one.metrics),
        }
        for one in found
    ]
    if as_json:
        terminal.document(rows)
    elif not rows:
        terminal.say(
            f"{project} has no model yet. Train one: loupe train {project} --family golden"
        )
    else:
        terminal.table(
            ("name", "family", "state", "champion", "figures"),
            [(one.name, one.family, one.state.value, one.champion, _figures(one)) for one in found],
        )


def evaluate(
    project: Project,
    model: Annotated[str, typer.Option(help="vN or champion.")] = "champion",
    split: Annotated[
        str, typer.Option(help="train, val or test.", show_default="the held-out one")
    ] = "",
    iou: Annotated[float, typer.Option(help="Overlap that counts as found.")] = 0.5,
    against: Annotated[
        str, typer.Option(help="Compare with another model on the same images: vN or champion.")
    ] = "",
    wait: Annotated[bool, typer.Option(help="Follow the job to its end.")] = True,
    as_json: AsJson = False,
) -> None:
    """Measure a model on one split of the snapshot it was trained with.

    Example: loupe evaluate boards --model v2 --split test --iou 0.33
    """
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found = catalogue.find(session, project)
            job = trainings.evaluate(
                session,
                found.id,
                model,
                split=split,
                iou=iou,
                against=against,
                author=tools.me(),
            )
            name = registry.find(session, found.id, model).name
        if wait:
            job = waiting.to_the_end(at, job, as_json)
    if wait:
        _tell_measured(_measured(name, split, iou, dict(job.result)), as_json)
    elif as_json:
        terminal.document({"job": job.id, "model": name})
    else:
        terminal.say(f"Job {job.id} waits: loupe jobs --watch")


def judge(
    project: Project,
    file: Annotated[Path, typer.Argument(help="COCO results, or a table as of loupe report.")],
    model: Annotated[
        str, typer.Option(help="Judge by the images held out from it, and compare with it.")
    ] = "champion",
    split: Annotated[
        str, typer.Option(help="train, val or test.", show_default="the held-out one")
    ] = "",
    iou: Annotated[float, typer.Option(help="Overlap that counts as found.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Measure what another program found, as a model of our own is measured.

    Example: loupe judge boards results.json --model v2 --iou 0.33
    """
    if not file.is_file():
        raise NotFound(f"There is no file {file}.")
    with tools.open_tools() as at:
        stored = at.files.put_file(file)
        with at.database.write.begin() as session:
            found = catalogue.find(session, project)
            job = trainings.judge(
                session,
                found.id,
                stored,
                file.name,
                model="" if model == registry.CHAMPION else model,
                split=split,
                iou=iou,
                author=tools.me(),
            )
        job = waiting.to_the_end(at, job, as_json)
    _tell_measured(_measured(file.name, split, iou, dict(job.result)), as_json)
    if job.result["strange_images"] or job.result["strange_classes"]:
        terminal.warn(
            f"Left out: {job.result['strange_images']:,} lines of images that it is not judged "
            f"by, {job.result['strange_classes']:,} of classes that the project does not have."
        )
    if unanswered := job.result.get("unanswered"):
        terminal.warn(f"{unanswered:,} images have no answer in it and are not judged.")


def runs(project: Project, as_json: AsJson = False) -> None:
    """List the runs of models over the images of a project.

    Example: loupe runs boards --json
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = findings.runs(session, catalogue.find(session, project).id)
        rows = [
            {
                "run": one.id,
                "model": one.model,
                "family": one.family,
                "runtime": one.runtime,
                "seconds": one.seconds,
                "finished": one.finished is not None,
                **findings.totals(session, one.id),
            }
            for one in found
        ]
    if as_json:
        terminal.document(rows)
    elif not rows:
        terminal.say(f"{project} has no run yet. Make one: loupe detect {project} --wait")
    else:
        columns = ("run", "model", "runtime", "images", "detections", "failed", "seconds")
        terminal.table(columns, [[row[name] for name in columns] for row in rows])


def _measured(model: str, split: str, iou: float, result: dict[str, Any]) -> dict[str, Any]:
    figures = result.get("metrics", result)
    answer = {"model": model, "split": figures.get("split", split)}
    if "accuracy" in figures:  # there are no boxes that could overlap
        answer["interval"] = figures.get("interval")
    else:
        answer["iou"] = iou
    named = {name: figures[name] for name in FIGURES if name in figures}
    beside = {name: result[name] for name in ("against", "verdict") if result.get(name)}
    return {**answer, **named, "per_class": figures.get("per_class", {}), **beside}


def _tell_measured(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        terminal.document(answer)
        return
    figures = ", ".join(f"{key} {_share(answer.get(key))}" for key in FIGURES if key in answer)
    if interval := answer.get("interval"):
        figures += f" (accuracy 95 % between {_share(interval[0])} and {_share(interval[1])})"
    at = f" at IoU {answer['iou']:g}" if "iou" in answer else ""
    terminal.say(f"{answer['model']} on {answer['split']}{at}: {figures}")
    shown = COLUMNS if "iou" in answer else {n: t for n, t in COLUMNS.items() if n != "ap"}
    rows = [
        (label, *(_share(one.get(name)) for name in shown))
        for label, one in answer["per_class"].items()
    ]
    terminal.table(("class", *shown.values()), rows)
    if "verdict" in answer:
        terminal.say(answer["verdict"])


def _figures(model: Model) -> str:
    metrics = model.metrics
    return ", ".join(f"{name} {_share(metrics[name])}" for name in FIGURES if name in metrics)


def _share(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else "–"

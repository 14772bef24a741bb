"""The command that looks for labels that are likely wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend.domain import Box, Job
from backend.errors import Invalid, NotFound
from backend.projects import catalogue
from backend.review.doubts import asking, inbox
from backend.review.doubts.asking import Wanted
from backend.review.doubts.inbox import Held
from backend.words import many

Project = Annotated[str, typer.Argument(help="Name of the project.")]
PARAMETERS = ("epochs", "image_size")


def add_to(cli: typer.Typer) -> None:
    """Make this command of `loupe`."""
    cli.command()(doubts)


def doubts(
    project: Project,
    family: Annotated[
        str,
        typer.Option(
            help="golden, yolo or faster_rcnn.",
            show_default="golden where there are goldens, else that of the best detector",
        ),
    ] = "",
    run: Annotated[
        int | None, typer.Option(help="Hold the labels against a run that there is.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Or against what another program found: COCO results, or a table."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts, each looked at by a model of the others.")] = (
        asking.FOLDS
    ),
    epochs: Annotated[int | None, typer.Option(help="How often to see every image.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Longer side, in pixels.")] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Only list what was found the last time.")
    ] = False,
    most: Annotated[int, typer.Option(help="How many to list.", min=1)] = 20,
    wait: Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find labels that are likely wrong: missing, spurious, of a wrong class, loose.

    Models are trained in turns, each on all parts of the labels but one, and each label is held
    against what a model found that did not learn from it. They stand under Review, Labels in doubt.

    Example: loupe doubts boards --wait
    """
    if predictions is not None and run is not None:
        raise Invalid("Name a run or a file of predictions, not both.")
    if predictions is not None and not predictions.is_file():
        raise NotFound(f"There is no file {predictions}.")
    named = {n: v for n, v in zip(PARAMETERS, (epochs, image_size), strict=True) if v is not None}
    with tools.open_tools() as at:
        job = None
        if not show:
            stored = at.files.put_file(predictions) if predictions else ""
            name = predictions.name if predictions else ""
            job = _asked(at, project, Wanted(family, run, stored, name, folds, named))
            if wait:
                job = waiting.to_the_end(at, job, as_json)
        if show or wait:
            _tell(at, project, job, most, as_json)
        elif job is not None:
            _tell_queued(job, as_json)


def _asked(at: tools.Tools, project: str, wanted: Wanted) -> Job:
    with at.database.write.begin() as session:
        found = catalogue.find(session, project)
        return asking.ask(session, found.id, wanted, author=tools.me())


def _tell_queued(job: Job, as_json: bool) -> None:
    if as_json:
        terminal.document({"job": job.id})
    else:
        terminal.say(f"Job {job.id} waits: loupe jobs --watch")


def _tell(at: tools.Tools, project: str, job: Job | None, most: int, as_json: bool) -> None:
    with at.database.read.begin() as session:
        found = catalogue.find(session, project)
        counts = inbox.count(session, found.id)
        held = inbox.window(session, found.id, most)
    if as_json:
        what = {"job": job.id if job else None, "doubts": sum(counts.values()), "kinds": counts}
        terminal.document({**what, "first": [_row(one) for one in held]})
        return
    if not held:
        terminal.say(f"No label of {project} is in doubt.")
        return
    said = ", ".join(f"{kind} {number:,}" for kind, number in counts.items())
    terminal.say(f"{many(sum(counts.values()), 'label')} in doubt: {said}.")
    rows = [
        (
            f"{one.certainty:.2f}",
            one.kind.value,
            one.image.name,
            _named(one.label),
            _named(one.found),
        )
        for one in held
    ]
    terminal.table(("certainty", "kind", "image", "label", "found"), rows)


def _named(box: Box | None) -> str:
    if box is None:
        return "–"
    return f"{box.label} at {box.x1:.0f}, {box.y1:.0f} to {box.x2:.0f}, {box.y2:.0f}"


def _row(one: Held) -> dict[str, Any]:
    told = {"id": one.id, "image": one.image.id, "name": one.image.name}
    told |= {"kind": one.kind.value, "certainty": round(one.certainty, 4), "score": one.score}
    return {**told, "label": _corners(one.label), "found": _corners(one.found)}


def _corners(box: Box | None) -> dict[str, Any] | None:
    if box is None:
        return None
    return {"class": box.label, "x1": box.x1, "y1": box.y1, "x2": box.x2, "y2": box.y2}

"""Commands for searches: begin one, and look at the trials of one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend import spaces, words
from backend.domain import Search, Trial, TrialState
from backend.errors import NotFound
from backend.families import FAMILIES
from backend.models import searches, trials
from backend.models.search.bounds import Budget
from backend.projects import catalogue

Project = Annotated[str, typer.Argument(help="Name of the project.")]
GIVEN = (
    "epochs", "image_size", "batch", "variant", "workers", "device", "memory_gb", "patience",
)  # fmt: skip
SHOWN = 12


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (tune, trials_):
        cli.command(command.__name__.strip("_"))(command)


def tune(
    project: Project,
    family: Annotated[str, typer.Option(help=f"{', '.join(FAMILIES)}.")],
    trials: Annotated[int, typer.Option(help="At most so many trials; 0: by the hours.")] = 0,
    hours: Annotated[float, typer.Option(help="At most so many hours; 0: by the trials.")] = 0.0,
    at_once: Annotated[
        int, typer.Option(help="So many trials at once; 0: as many as there is room for.")
    ] = 0,
    share: Annotated[
        float, typer.Option(help="Part of a card that each takes, such as 0.5.")
    ] = 1.0,
    method: Annotated[
        str, typer.Option(help="How values are chosen: random, or guided by what did well.")
    ] = "random",
    space: Annotated[
        str,
        typer.Option(
            help="What is tried, such as lr=1e-5..1e-2:log,batch=4|8.",
            show_default="as the family has it",
        ),
    ] = "",
    weights: Annotated[
        str, typer.Option(help="Start from a weights file, from vN, or from scratch.")
    ] = "",
    epochs: Annotated[int | None, typer.Option(help="Epochs of each trial.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Longer side, in pixels.")] = None,
    batch: Annotated[int | None, typer.Option(help="Images at a time.")] = None,
    variant: Annotated[
        str | None, typer.Option(help="Size of the network, such as n or s.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes of each trial.")] = None,
    device: Annotated[
        str | None, typer.Option(help="What each process computes on: auto, cpu or gpu.")
    ] = None,
    memory: Annotated[float | None, typer.Option(help="GB of memory for each process.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without progress after which a trial ends.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same split and trials.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for better parameters of a family: trial after trial, the first with the defaults.

    Example: loupe tune boards --family yolo --trials 20 --epochs 5 --wait
    """
    given = (epochs, image_size, batch, variant, workers, device, memory, patience)
    parameters = {n: value for n, value in zip(GIVEN, given, strict=True) if value is not None}
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found = catalogue.find(session, project)
            begun = searches.ask(
                session,
                found.id,
                family,
                trials=trials,
                hours=hours,
                at_once=at_once,
                share=share,
                method=method,
                space=space,
                start=weights,
                parameters=parameters,
                seed=seed,
                author=tools.me(),
            )
        if wait:
            waiting.to_the_end(at, begun.job, as_json)
        _tell(at, begun.search.id, as_json)


def trials_(
    project: Project,
    search: Annotated[
        int | None, typer.Option(help="Number of the search.", show_default="the newest")
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="End it, and keep the best of what is done.")
    ] = False,
    stop_trial: Annotated[
        int | None, typer.Option(help="End the trial of that number after its epoch.")
    ] = None,
    more: Annotated[int, typer.Option(help="Allow it so many trials more.")] = 0,
    more_hours: Annotated[float, typer.Option(help="Allow it so many hours more.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """List the trials of a search, the best first; stop it, or let it go on.

    Example: loupe trials boards --more 10
    """
    with tools.open_tools() as at:
        with at.database.read.begin() as session:
            found = searches.numbers(session, catalogue.find(session, project).id)
        if search is not None and search not in found:
            raise NotFound(f"{project} has no search {search}.")
        if not found:
            raise NotFound(f"{project} has no search yet. Begin one: loupe tune {project}")
        chosen = search or found[0]
        if stop or stop_trial is not None or more or more_hours:
            with at.database.write.begin() as session:
                _steer(session, chosen, stop, stop_trial, Budget(more, more_hours))
        _tell(at, chosen, as_json)


def _steer(session: Session, search_id: int, stop: bool, trial: int | None, more: Budget) -> None:
    if trial is not None:
        searches.stop_trial(session, search_id, trial)
    if stop:
        searches.stop(session, search_id)
    if any(more):
        searches.more(session, search_id, *more)


def _tell(at: tools.Tools, search_id: int, as_json: bool) -> None:
    """What has become of a search, or how far it is."""
    with at.database.read.begin() as session:
        search = searches.get(session, search_id)
        found = trials.of_search(session, search_id)
    if as_json:
        terminal.document(_document(search, found))
        return
    best = searches.best(found)
    order = sorted(found, key=lambda one: (one.value is None, -(one.value or 0.0), one.number))
    columns = ("trial", "state", "epochs", trials.figure(search.family), "seconds", "parameters")
    terminal.table(columns, [_row(one) for one in order[:SHOWN]])
    if len(order) > SHOWN:
        terminal.say(f"and {len(order) - SHOWN:,} more: --json has them all")
    failed = [one for one in found if one.state is TrialState.FAILED]
    if failed:
        first = failed[0]
        terminal.say(f"{words.many(len(failed), 'trial')} failed, {first.number}: {first.error}")
    if said := search.facts.get("verdict"):
        terminal.say(f"Trial {best.number if best else 0} is {search.facts['model']}. {said}")
    else:
        terminal.say(f"Search {search.id} is {search.state.value} as job {search.job_id}.")


def _row(trial: Trial) -> tuple[Any, ...]:
    tried = spaces.told(trial.parameters) or searches.DEFAULTS
    worth = "–" if trial.value is None else f"{trial.value:.3f}"
    seconds = f"{trial.seconds:.1f}"
    return (str(trial.number), trial.state.value, str(len(trial.epochs)), worth, seconds, tried)


def _document(search: Search, found: list[Trial]) -> dict[str, Any]:
    return {
        "search": search.id,
        "job": search.job_id,
        "state": search.state.value,
        "family": search.family,
        "space": search.space,
        "method": search.method,
        "seconds": round(search.seconds, 1),
        **search.facts,
        "trials": [
            {
                "trial": one.number,
                "state": one.state.value,
                "parameters": dict(one.parameters),
                "value": one.value,
                "epochs": [dict(each) for each in one.epochs],
                "device": one.device,
                "seconds": round(one.seconds, 1),
                "error": one.error,
            }
            for one in found
        ],
    }

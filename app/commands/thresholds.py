"""The command that finds thresholds: by what mistakes cost, or by what may escape."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.domain import Model, Split
from backend.errors import Invalid, Refused
from backend.models import registry
from backend.projects import catalogue
from backend.review import thresholds, views
from backend.review.thresholds import Boards, Costs, Outcome
from backend.review.views import ReviewRule
from backend.words import many

Project = Annotated[str, typer.Argument(help="Name of the project.")]


def add_to(cli: typer.Typer) -> None:
    """Make this command of `loupe`."""
    cli.command()(threshold)


def threshold(
    project: Project,
    model: Annotated[str, typer.Option(help="vN or champion.")] = registry.CHAMPION,
    escape_cost: Annotated[
        list[str] | None,
        typer.Option(help="What an escape costs; of one class: --escape-cost short=100."),
    ] = None,
    false_call_cost: Annotated[float, typer.Option(help="What a false call costs.", min=0)] = 1.0,
    review_seconds: Annotated[
        float, typer.Option(help="How long a person looks at a board with an alarm.", min=0)
    ] = 10.0,
    escapes: Annotated[
        str, typer.Option(help="The share that may escape, such as 1%, in place of costs.")
    ] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Make it the project's rule.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the thresholds at which escapes and false calls cost least, or few enough escape.

    They are chosen on the validation images that the model was measured on, and told of its test
    images. A promise (--escapes) holds for boards like those, as surely as 95 %.

    Example: loupe threshold boards --model v3 --escape-cost 40 --false-call-cost .6
    """
    costs = _costs(
        escape_cost or [],
        _sum("--false-call-cost", false_call_cost),
        _sum("--review-seconds", review_seconds),
    )
    share = _share(escapes) if escapes else None
    with tools.open_tools() as at:
        with at.database.read.begin() as session:
            found = catalogue.find(session, project)
            _known(costs, [one.name for one in found.classes])
            chosen = registry.find(session, found.id, model)
            validation = thresholds.seen(session, chosen, Split.VAL)
            best = (
                thresholds.by_cost(validation, costs)
                if share is None
                else thresholds.by_share(validation, share)
            )
            test = _of_test(session, chosen)
            names = [one.name for one in found.classes]
            kept = _kept(views.rule(session, found.id), [names, validation.classes, test.classes])
            kept = {label: at for label, at in kept.items() if label not in best}
            told = {
                split: thresholds.outcome(boards, kept | best, costs) if boards.number else None
                for split, boards in ((Split.VAL, validation), (Split.TEST, test))
            }
        if apply and not best:
            raise Refused(
                f"{chosen.name} was validated on no defect, so that there is no threshold to apply."
            )
        if apply:
            with at.database.write.begin() as session:
                _apply(session, found.id, best)
    _tell(chosen.name, best, kept, told, applied=apply, as_json=as_json)


def _of_test(session: Session, model: Model) -> Boards:
    """None where the model was not measured on its test images."""
    try:
        return thresholds.seen(session, model, Split.TEST)
    except Refused:
        return Boards(0, 0, {})


def _kept(rule: ReviewRule, names: Iterable[Iterable[str]]) -> dict[str, float]:
    """What the project's rule says of classes."""
    own, of_all = rule["thresholds"], rule["threshold"]
    return {label: own.get(label, of_all) for label in itertools.chain(*names)}


def _apply(session: Session, project_id: int, best: dict[str, float]) -> None:
    rule = views.rule(session, project_id)
    own = {**rule["thresholds"], **best}
    views.set_rule(session, project_id, {**rule, "thresholds": own}, rule["version"], tools.me())


def _costs(said: list[str], false_call: float, seconds: float) -> Costs:
    of_all, by_class = 10.0, dict[str, float]()
    for text in said:
        label, equals, number = text.rpartition("=")
        if equals:
            by_class[label] = _number(number, text)
        else:
            of_all = _number(text, text)
    return Costs(of_all, false_call, by_class, seconds)


def _sum(option: str, value: float) -> float:
    """Typer lets through what has no end, and what is no number."""
    if not value < float("inf"):
        raise Invalid(f"{option} {value} is no sum: use 40 or .5.")
    return value


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise Invalid(f"--escape-cost {whole} is no sum: use 40, or short=100 for one class.")
    return value


def _known(costs: Costs, names: list[str]) -> None:
    for label in costs.by_class:
        if label not in names:
            raise Invalid(f"--escape-cost names {label!r}; the classes are {', '.join(names)}.")


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise Invalid(f"--escapes {text} is no share: use 1% or .01.")
    return value


def _tell(
    model: str,
    best: dict[str, float],
    kept: dict[str, float],
    told: dict[Split, Outcome | None],
    *,
    applied: bool,
    as_json: bool,
) -> None:
    if as_json:
        document: dict[str, Any] = {
            "model": model,
            "thresholds": best,
            "kept": kept,
            "applied": applied,
        }
        named = {Split.VAL: "validation", Split.TEST: "test"}
        document |= {named[split]: asdict(one) if one else None for split, one in told.items()}
        terminal.document(document)
        return
    rows = [[name, f"{at:.3f}"] for name, at in best.items()]
    rows += [[name, f"{at:.3f} as before: none in validation"] for name, at in kept.items()]
    terminal.table(("class", "counts from"), rows)
    for split, one in told.items():
        terminal.say(
            f"{split}: {_words(one)}" if one else f"{split}: {model} was not measured there."
        )
    if applied:
        terminal.say("It is the project's rule now.")


def _words(one: Outcome) -> str:
    low, high = one.interval
    return (
        f"{one.escapes:,} of {many(one.defects, 'defect')} escape, at most {one.at_most:.1%} at "
        f"95 %; {one.false_calls / one.boards:.2f} false calls a board; of 1,000 boards the cost "
        f"is {one.cost:,.1f} ({low:,.1f} to {high:,.1f}), and {one.minutes:,.0f} minutes of "
        f"review (run {one.run}, {many(one.boards, 'board')})."
    )

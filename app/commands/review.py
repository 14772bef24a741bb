"""Commands of a review: take a run out, bring decisions in, ask where a label comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from sqlalchemy.orm import Session

from app import run_sheet, terminal
from app.commands import tools
from app.commands.tools import Tools
from app.terminal import AsJson
from backend.errors import NotFound, Refused
from backend.review import blind_repeats, decision_tables, judgements, provenance, reports, tally
from backend.review.blind_repeats import Agreement, Kappa
from backend.review.boards import sheet
from backend.review.tally import Figures
from backend.storage import engine
from backend.words import many

Format = Literal["csv", "parquet", "coco", "html", "pdf"]
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "coco",
    ".html": "html",
    ".pdf": "pdf",
}
Run = Annotated[int, typer.Argument(help="Number of the run.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (report, decide, why):
        cli.command()(command)


def report(
    run: Run,
    out: Annotated[Path, typer.Argument(help="File to write.")],
    format_name: Annotated[
        Format | None,
        typer.Option("--format", help="Kind of file, where its suffix does not say it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write what a run found, and what people said of it, to a file: a table, COCO or a page.

    The suffix says which: .csv, .parquet, .json for COCO, or .html and .pdf for a page that can
    be sent: yield, defects, the worst boards, who judged.

    Example: loupe report 12 run-12.parquet
    """
    format_name = format_name or _format(out)
    with tools.open_tools() as at, at.database.read.begin() as session:
        size = _write(out, _parts(at, session, run, format_name))
        figures = tally.figures(session, run)
        agreement = blind_repeats.agreement(session, run)
    if as_json:
        told = {"figures": asdict(figures), "agreement": asdict(agreement)}
        terminal.document({"run": run, "path": str(out), "bytes": size, **told})
    else:
        terminal.say(f"{out} holds run {run} ({size:,} bytes). {_figures(figures)}")
        terminal.say(_agreement(agreement))


def _parts(at: Tools, session: Session, run: int, format_name: Format) -> Iterable[bytes]:
    if format_name not in run_sheet.KINDS:
        return reports.write(session, run, format_name)
    engine.at_one_moment(session)
    with tools.pictures(at) as pictures:
        return run_sheet.write(sheet.read(session, run), pictures, tools.me(), format_name)


def _format(out: Path) -> Format:
    for suffix, name in SUFFIXES.items():
        if out.suffix.lower() == suffix:
            return name
    raise Refused(
        f"The suffix of {out.name} says no kind of file: use {', '.join(SUFFIXES)}, or --format."
    )


def _write(out: Path, parts: Iterable[bytes]) -> int:
    """All or nothing: what breaks off leaves no file, and what stood there before stays."""
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as file:
            size = sum(file.write(one) for one in parts)
        part.replace(out)
    except OSError as error:
        raise Refused(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        if part.is_file():
            part.unlink()
    return size


def decide(
    run: Run,
    table: Annotated[Path, typer.Argument(help="CSV of `loupe report`, with decisions filled in.")],
    as_json: AsJson = False,
) -> None:
    """Judge a run by a table: `decision` is accept, false_call or missed; `board` pass or fail.

    A line with other corners or another class corrects the detection.

    Example: loupe decide 12 run-12.csv
    """
    if not table.is_file():
        raise NotFound(f"There is no file {table}.")
    seen = decisions = 0
    with tools.open_tools() as at:
        for image_id, lines in decision_tables.images(run, decision_tables.rows(table)):
            with at.database.write.begin() as session:
                said = decision_tables.answer(session, run, image_id, lines)
                judgements.judge(session, run, image_id, said, tools.me())
            seen += 1
            decisions += len(said.verdicts) + len(said.missed)
    if as_json:
        terminal.document({"run": run, "images": seen, "decisions": decisions})
    else:
        terminal.say(f"{many(decisions, 'decision')} on {many(seen, 'image')} of run {run}.")


def why(
    name: Annotated[
        str, typer.Argument(help="A detection RUN:IMAGE:NUMBER, or a label IMAGE:BOX.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show where a detection or a label comes from, and where it went.

    Example: loupe why 12:407:0
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        chain = provenance.why(session, name)
    if as_json:
        links = [{"what": link.what, "text": link.text, "facts": link.facts} for link in chain]
        terminal.document({"name": name, "links": links})
    else:
        terminal.table(("what", ""), [[link.what, link.text] for link in chain])


def _figures(found: Figures) -> str:
    return (
        f"Against the labels of {many(found.images, 'image')}: {found.right:,} right, "
        f"{many(found.false_calls, 'false call')}, {many(found.escapes, 'escape')}."
    )


def _agreement(found: Agreement) -> str:
    parts = [_kappa("between inspectors", found.between_detections)]
    parts += [_kappa("within one", found.within_detections)]
    return f"Second answers agree: {'; '.join(parts)}."


def _kappa(name: str, found: Kappa) -> str:
    if found.kappa is None:
        return f"{name} {found.agreed} of {found.pairs}"
    return f"{name} {found.agreed} of {found.pairs}, kappa {found.kappa:.2f}"

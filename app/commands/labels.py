"""Commands that put pictures into a project, and take labels out."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.errors import Invalid, Refused
from backend.projects import catalogue
from backend.words import many

SHOWN = 20

Project = Annotated[str, typer.Argument(help="Name of the project; made if it is not there.")]
# Other commands only start a job; these two do their work themselves, and so always wait.
Wait = Annotated[bool, typer.Option("--wait", help="As always here: end when the work is done.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command()(sample)
    cli.command("import")(import_)
    for command in (export, boards, lots, crops):
        cli.command()(command)


def sample(
    project: Annotated[str, typer.Argument(help="Name of the project to be made.")],
    kind: Annotated[Literal["pcb", "mask"], typer.Option(help="Boards, or faces.")] = "pcb",
    images: Annotated[int, typer.Option(help="How many pictures.", min=1, max=100_000)] = 60,
    seed: Annotated[int, typer.Option(help="The same seed draws the same pictures.")] = 0,
    look: Annotated[
        Literal["binary", "colour"], typer.Option(help="Look of the boards.")
    ] = "binary",
    as_json: AsJson = False,
) -> None:
    """Draw a sample project, with goldens, defects and labels.

    Example: loupe sample demo --kind pcb --images 200
    """
    from backend.labels import samples

    with (
        tools.open_tools() as at,
        terminal.progress(f"Drawing {project}", images, quiet=as_json) as told,
    ):
        with at.database.read.begin() as session:
            catalogue.refuse_taken(session, project)
        drawn = samples.draw(at.files, kind, images, seed, look, told)
        with at.database.write.begin() as session:
            made = samples.create(session, project, kind, drawn)
    answer = {"project": made.name, "images": images, "classes": [one.name for one in made.classes]}
    if as_json:
        terminal.document(answer)
    else:
        terminal.say(f"{made.name} has {images:,} drawn pictures. Look at them: loupe")


def import_(
    project: Project,
    source: Annotated[
        str,
        typer.Argument(help="A folder, archive, label file, picture, @STAGE/path or table:TABLE."),
    ],
    format_: Annotated[
        str, typer.Option("--format", help="auto, deeppcb, voc, yolo, coco or folders.")
    ] = "auto",
    masks: Annotated[
        str, typer.Option(help="Masks beside pictures become boxes by instance or colour; or skip.")
    ] = "",
    lot: Annotated[
        str, typer.Option(help="Lot of all that comes; pictures stand below its name.")
    ] = "",
    columns: Annotated[str, typer.Option(help="Of a table: file=COLUMN,image=COLUMN, …")] = "",
    only: Annotated[str, typer.Option(help="Of a table: rows with COLUMN=VALUE.")] = "",
    pictures: Annotated[
        str, typer.Option(help="Folder or @STAGE/path of pictures that a table only names.")
    ] = "",
    wait: Wait = True,  # noqa: ARG001
    as_json: AsJson = False,
) -> None:
    """Bring pictures and their labels into a project; what is there already is skipped.

    Example: loupe import boards ~/data/DeepPCB --format auto
    """
    from backend.incoming import layouts, places
    from backend.incoming.tables import TableOptions
    from backend.labels import imports

    table = TableOptions(layouts.said(columns, "columns"), layouts.said(only, "rows"))
    wanted = places.Wanted(format_, masks, table, pictures)
    with (
        tools.open_tools() as at,
        terminal.progress(f"Importing into {project}", quiet=as_json) as told,
    ):
        into = imports.Into(at.database, at.files, project, tools.me(), progress=told, lot=lot)
        result = places.import_(into, source, at.settings, wanted).as_json()
    if as_json:
        terminal.document(result)
    else:
        terminal.say(
            f"{project}: {many(result['images'], 'image')}, "
            f"{many(result['goldens'], 'golden')} and "
            f"{many(result['boxes'], 'box', 'boxes')} added; "
            f"{many(result['skipped'], 'was', 'were')} there already."
        )
    _complain(result["problems"], result["unusable"], "could not be used", as_json)


def lots(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    table: Annotated[str, typer.Argument(help="The boards: table:TABLE, in Snowflake.")],
    by: Annotated[str, typer.Option(help="Column whose values are the lots; several: LINE,DAY.")],
    board: Annotated[
        str, typer.Option(help="Column with the board's name, such as BOARD_ID.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Give pictures the lot that a table of boards tells of theirs: its line, product or day.

    Example: loupe lots boards table:LINE7.MES.BOARDS --by LINE
    """
    from backend.incoming import boards, stages
    from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection

    with (
        tools.open_tools() as at,
        closing(SnowflakeConnection(stages.account(at.settings))) as connection,
    ):
        found = boards.join(at.database, project, boards.opened(connection, table, by, board))
    if as_json:
        terminal.document({"project": project, **asdict(found)})
    else:
        for sentence in boards.sentences(found):
            terminal.say(sentence)
        for problem in found.problems[:SHOWN]:
            terminal.warn(problem)
    if found.problems:
        told = many(len(found.problems), "board")
        raise Refused(f"{told} could not be given a lot; everything else is done.")


def boards(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    table: Annotated[
        Path, typer.Argument(help="CSV with a line an image or a lot: image,line,product.")
    ],
    as_json: AsJson = False,
) -> None:
    """Keep what a table says of boards (line, product, side, date, serial), to filter by it.

    Its first line names the columns; `image` or `lot` says of what a line is. An empty cell takes
    away what was said.

    Example: loupe boards boards boards.csv
    """
    from backend.labels import board_tables

    with tools.open_tools() as at:
        found = board_tables.join(at.database, project, table)
    if as_json:
        terminal.document({"project": project, **asdict(found)})
    else:
        terminal.say(str(found))
        for problem in found.problems[:SHOWN]:
            terminal.warn(str(problem))
    if found.problems:
        told = many(len(found.problems), "line")
        raise Refused(f"{told} could not be used; everything else is done.")


def crops(
    project: Annotated[str, typer.Argument(help="Name of the project whose boxes are cut out.")],
    new: Annotated[str, typer.Argument(help="Name of the project of crops; made if missing.")],
    margin: Annotated[
        float, typer.Option(help="Added on each side, as a share of the box's longer one.")
    ] = 0.2,
    back: Annotated[
        bool, typer.Option("--back", help="Give each box the class that its crop has now.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Cut the boxes of images that are done into a project of classes, or take classes back.

    Example: loupe crops boards defects --margin 0.3
    """
    from backend.labels.cropping import crops as cutter

    with tools.open_tools() as at:
        if back:
            given = cutter.give_back(at.database, project, new, tools.me())
            answer, told = asdict(given), str(given)
        else:
            with terminal.progress(f"Cutting out of {project}", quiet=as_json) as tell:
                made = cutter.cut(at.database, at.files, project, new, margin, tools.me(), tell)
            answer, told = asdict(made), str(made)
    if as_json:
        terminal.document({"project": new, **answer})
    else:
        terminal.say(told)


def export(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    out: Annotated[Path, typer.Argument(help="A new folder, or a new .zip.")],
    format_: Annotated[str, typer.Option("--format", help="deeppcb, voc, yolo, coco or folders.")],
    state: Annotated[
        list[str] | None, typer.Option(help="Images in this state; default: done. all: any state.")
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="Only images of this split.")] = None,
    filter_: Annotated[
        str, typer.Option("--filter", help="As in Browse's address: 'class=short&group=lot 7'.")
    ] = "",
    shares: Annotated[
        str, typer.Option(help="Share out images without a split, by lot: 80,10,10.")
    ] = "",
    seed: Annotated[int, typer.Option(help="The same seed shares out alike.")] = 0,
    wait: Wait = True,  # noqa: ARG001
    as_json: AsJson = False,
) -> None:
    """Write the pictures and labels of a project in a format that other programs read.

    What is not done stays, because elsewhere a picture without boxes is one without defects.

    Example: loupe export boards boards-coco.zip --format coco --shares 80,10,10
    """
    from backend.labels import export_choice, exports

    source = {"states": state or [], "splits": split or [], "filter": filter_}
    asked = export_choice.asked(source, _whole(shares), seed)
    with (
        tools.open_tools() as at,
        terminal.progress(f"Exporting {project}", quiet=as_json) as told,
        at.database.read.begin() as session,
    ):
        result = exports.run(session, at.files, project, out, format_, told, asked).as_json()
    if as_json:
        terminal.document(result)
    else:
        terminal.say(_written(result))
    problems = result["problems"]
    _complain(problems, len(problems), f"could not be carried by {format_}", as_json)


def _whole(shares: str) -> list[int]:
    try:
        return [int(one) for one in shares.split(",") if shares]
    except ValueError:
        raise Invalid(f"{shares!r} are no shares; write them as 80,10,10.") from None


def _written(result: dict[str, Any]) -> str:
    """What an export holds, and what it does not."""
    given = {name: number for name, number in result["splits"].items() if name != "none"}
    splits = ", ".join(f"{number:,} {name}" for name, number in given.items())
    images = f"{many(result['images'], 'image')}{f' ({splits})' if splits else ''}"
    goldens, boxes = many(result["goldens"], "golden"), many(result["boxes"], "box", "boxes")
    told = f"{result['path']}: {images}, {goldens} and {boxes}."
    stay = ", ".join(f"{number:,} {state}" for state, number in result["left_out"].items())
    return f"{told}\nLeft out by their state: {stay}; --state all takes them too." if stay else told


def _complain(problems: list[dict[str, Any]], number: int, words: str, as_json: bool) -> None:
    if not problems:
        return
    for one in problems[: 0 if as_json else SHOWN]:
        line = f":{one['line']}" if one["line"] else ""
        terminal.warn(f"{one['file']}{line}: {one['reason']}")
    if number > SHOWN and not as_json:
        terminal.warn(f"… and {number - SHOWN:,} more; --json lists them.")
    told = many(number, "file or line", "files or lines")
    raise Refused(f"{told} {words}; everything else is done.")

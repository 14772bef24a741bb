"""The PDF of a run says what its page says, whatever names say, and pdfium can draw it."""

from __future__ import annotations

import io
from pathlib import Path

import pypdfium2
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from app import cli, run_sheet
from app.paper import printing
from app.premises import Premises
from backend.projects import classes
from backend.review.boards import sheet
from backend.storage.tables import ImageRow
from tests import printed
from tests.app import test_run_sheet
from tests.app.commands.test_upkeep import enter
from tests.app.test_run_sheet import EVIL, Page

run = test_run_sheet.run  # its fixture


def written(premises: Premises, number: int, kind: str) -> bytes:
    with premises.read() as session:
        told = sheet.read(session, number)
    return b"".join(run_sheet.write(told, premises.previews, "ana", kind))


def test_what_the_page_says_stands_on_paper(premises: Premises, run: int) -> None:
    page = Page(written(premises, run, "html").decode())
    said = page.said[page.said.index("Inspection report") :]
    paper = printed.text(written(premises, run, "pdf"))
    lines = [printed.bare(line) for line in said.split("\n")]
    assert [line for line in lines if line not in paper] == []


def test_names_are_text_on_paper_and_open_no_file(premises: Premises) -> None:
    number = test_run_sheet._run(premises)
    evil = f'<img src="{Path(__file__)}"/><b>&amp;'
    with premises.write() as session:
        told = sheet.read(session, number)
        classes.edit(session, told.project.classes[0].id, name=EVIL[:40])
        session.get_one(ImageRow, told.worst[0].image.id).name = evil
    paper = printed.text(written(premises, number, "pdf"))
    assert printed.bare(evil) in paper
    assert printed.bare(EVIL[:40]) in paper


def test_what_is_long_is_printed_over_many_pages() -> None:
    rows = "".join(
        f"<tr><td>{number}{'wide' * 400}</td><td>{'of many words ' * 400}</td></tr>"
        for number in range(80)
    )
    table = f"<table><tr><th>Board</th><th>Why</th></tr>{rows}</table>"
    paper = printing.write(f"<html><body><p>Жук ± 漢</p>{table}</body></html>", "long")
    document = pypdfium2.PdfDocument(io.BytesIO(paper))
    first = document[0].get_textpage().get_text_bounded()
    assert "Жук ±" in first
    assert len(document) >= 10
    assert all("Why" in one.get_textpage().get_text_bounded() for one in document)


def test_a_row_of_long_names_fits_a_page_and_a_paragraph_is_whole() -> None:
    head, row = 5 * "<th>Name</th>", 5 * f"<td>{2000 * 'W'}</td>"
    long = " ".join(f"class{number}" for number in range(2000))
    page = f"<body><p>{long}</p><table><tr>{head}</tr><tr>{row}</tr></table></body>"
    paper = printed.text(printing.write(page, "long"))
    assert "class1999" in paper
    assert paper.count("W") == 5 * printing.LONGEST


def test_a_pdf_is_served(client: TestClient, run: int) -> None:
    served = client.get(f"/api/runs/{run}/export/pdf")
    assert (served.status_code, served.headers["content-type"]) == (200, "application/pdf")
    assert f"run-{run}.pdf" in served.headers["content-disposition"]
    assert "Inspectionreport" in printed.text(served.content)


def test_a_pdf_is_written_by_command(
    premises: Premises, run: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(monkeypatch, premises.settings.home)
    told = CliRunner().invoke(cli.cli, ["report", str(run), str(tmp_path / "run.pdf")])
    assert (told.exit_code, "holds run" in told.output) == (0, True)
    assert "Inspectionreport" in printed.text((tmp_path / "run.pdf").read_bytes())

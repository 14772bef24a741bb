"""Prints a page of ours: its headings, paragraphs, tables and pictures, one after another."""

from __future__ import annotations

import importlib.util
import io
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    LongTable,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    TableStyle,
)

from app.paper import tree
from app.paper.pictures import Bar, Picture
from app.paper.tree import SPACE, Element

EDGE = 14 * mm
ROOM = A4[0] - 2 * EDGE - 12  # a frame keeps six points on each side
LONGEST = 600  # letters of a cell: a row that is higher than a page could not be printed
INK, QUIET, LINE = "#1d2229", "#56606c", "#d9dde3"
GOOD, BAD = "#1b7a43", "#b3261e"
BOARD, NEAR = 62 * mm, 25 * mm
IN_A_ROW = 2
WIDTH, COLOR = re.compile(r"width: ([\d.]+)%"), re.compile(r"background: (#[0-9A-Fa-f]{6})")
PLAIN, BOLD, CODE = "LoupeSans", "LoupeSans-Bold", "LoupeMono"
FONTS = {PLAIN: "DejaVuSans", BOLD: "DejaVuSans-Bold", CODE: "DejaVuSansMono"}
Story = list[Flowable]


def write(page: str, title: str) -> bytes:
    """The page as a PDF."""
    _fonts()
    out = io.BytesIO()
    paper = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=EDGE,
        rightMargin=EDGE,
        topMargin=EDGE,
        bottomMargin=EDGE + 4 * mm,
        title=title,
        creator="Loupe",
    )

    def foot(canvas: Any, _: Any) -> None:
        canvas.setFont(PLAIN, 7)
        canvas.setFillColor(HexColor(QUIET))
        canvas.drawString(EDGE + 6, 10 * mm, title)
        canvas.drawRightString(A4[0] - EDGE - 6, 10 * mm, str(canvas.getPageNumber()))

    paper.build(_all(tree.parse(page)), onFirstPage=foot, onLaterPages=foot)
    return out.getvalue()


@cache
def _fonts() -> None:
    """Letters that come with matplotlib, which knows more alphabets than PDF's own."""
    [home] = importlib.util.find_spec("matplotlib").submodule_search_locations  # type: ignore[union-attr,misc]
    folder = Path(home) / "mpl-data" / "fonts" / "ttf"
    for name, file in FONTS.items():
        pdfmetrics.registerFont(TTFont(name, folder / f"{file}.ttf"))
    pdfmetrics.registerFontFamily(PLAIN, normal=PLAIN, bold=BOLD, italic=PLAIN, boldItalic=BOLD)


def _style(size: float, **more: Any) -> ParagraphStyle:
    told = {"fontName": PLAIN, "fontSize": size, "leading": size * 1.4, "textColor": INK, **more}
    return ParagraphStyle("", **told)


STYLES = {
    "h1": _style(16, fontName=BOLD, spaceAfter=4),
    "h2": _style(11.5, fontName=BOLD, spaceBefore=14, spaceAfter=4, keepWithNext=1),
    "h3": _style(9, fontName=BOLD, spaceBefore=4, spaceAfter=3),
    "p": _style(9, spaceAfter=5),
    "quiet": _style(7.5, textColor=QUIET, spaceBefore=3, spaceAfter=5),
    "td": _style(8),
    "th": _style(7.5, textColor=QUIET),
    "n": _style(8, alignment=2),
    "th n": _style(7.5, alignment=2, textColor=QUIET),
    "figcaption": _style(7, textColor=QUIET),
    "tile": _style(7.5),
}


def _all(within: Element) -> Story:
    return [flowable for one in within.elements for flowable in _printed(one)]


def _printed(one: Element) -> Story:
    if "tiles" in one.kinds:
        return [_tiles(one)]
    if one.tag == "table":
        return [_table(one)]
    if one.tag == "article":
        return [KeepTogether(_article(one))]
    if one.tag == "dl":
        return [_list(one)]
    if one.tag in ("h1", "h2", "h3", "p"):
        return [_paragraph(one, "quiet" if "quiet" in one.kinds else one.tag)]
    return _all(one)


def _paragraph(one: Element, style: str, longest: int | None = None) -> Paragraph:
    return Paragraph(_said(one, longest).strip(), STYLES[style])


def _said(one: Element, longest: int | None = None) -> str:
    """What stands in a line, in the words of reportlab; whatever a value says, it is text."""
    return "".join(
        escape(_short(part, longest)) if isinstance(part, str) else _marked(part, longest)
        for part in one.inside
    )


def _short(text: str, longest: int | None) -> str:
    said = SPACE.sub(" ", text)
    return said if longest is None or len(said) <= longest else f"{said[:longest]}…"


def _marked(one: Element, longest: int | None) -> str:
    if one.tag == "br":
        return "<br/>"
    said = _said(one, longest)
    if one.tag == "b":
        return f"<b>{said}</b>"
    if one.tag == "code":
        return f'<font name="{CODE}" size="7">{said}</font>'
    if one.tag == "small":
        return f'<font name="{PLAIN}" size="7.5" color="{QUIET}">{said}</font>'
    return said


def _tiles(row: Element) -> Flowable:
    colors = {"pass": GOOD, "fail": BAD}
    cells = []
    for one in row.elements:
        [number] = one.all("b")
        color = next((colors[kind] for kind in one.kinds if kind in colors), INK)
        words = [part for part in one.inside if part is not number]
        said = _said(Element("", {}, words))
        large = f'<font name="{BOLD}" size="14" color="{color}">{_said(number)}</font>'
        cells.append(Paragraph(f"{large}<br/>{said}", _style(7.5, leading=15)))
    shares = [2.0] + [1.0] * (len(cells) - 1)
    widths = [ROOM * share / sum(shares) for share in shares]
    look = [("BOX", (at, 0), (at, 0), 0.5, HexColor(LINE)) for at in range(len(cells))]
    return LongTable([cells], widths, style=TableStyle([*look, *PADDED]), spaceAfter=6)


PADDED: list[Any] = [
    ("TOPPADDING", (0, 0), (-1, -1), 3),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
]


def _table(table: Element) -> Flowable:
    rows = list(table.all("tr"))
    widths = _widths([row.elements for row in rows])
    lines = [[_cell(cell) for cell in row.elements] for row in rows]
    look: list[Any] = [
        ("LINEBELOW", (0, 0), (-1, -1), 0.5, HexColor(LINE)),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
    ]
    return LongTable(lines, widths, repeatRows=1, style=TableStyle([*PADDED, *look]))


def _cell(cell: Element) -> Flowable:
    bar = next(cell.all("i"), None)
    if bar is not None:
        told = bar.given["style"]
        width, color = WIDTH.search(told), COLOR.search(told)
        return Bar(float(width[1]) / 100 if width else 0.0, color[1] if color else QUIET)
    kinds = ["th"] if cell.tag == "th" else []
    kinds += ["n"] if "n" in cell.kinds else []
    return _paragraph(cell, " ".join(kinds) or "td", LONGEST)


def _widths(rows: list[list[Element]]) -> list[float]:
    """As wide as what stands in a column asks for, together as wide as the page."""
    if not rows:
        return []
    wanted = [max(min(ROOM / 2, _wide(row[at])) for row in rows) for at in range(len(rows[0]))]
    bars = [at for at, cell in enumerate(rows[0]) if "wide" in cell.kinds]
    for at in bars:
        wanted[at] = max(0.0, ROOM - sum(wanted)) + wanted[at]
    return [ROOM * one / sum(wanted) for one in wanted]


def _wide(cell: Element) -> float:
    return pdfmetrics.stringWidth(cell.text[:LONGEST], PLAIN, 8) + 16


def _article(article: Element) -> Story:
    story: Story = [_paragraph(one, "h3") for one in article.all("h3")]
    story += [_paragraph(one, "quiet") for one in article.all("p")]
    pictures = next((one for one in article.elements if "pictures" in one.kinds), None)
    if pictures is None:
        return story
    board, crops = pictures.elements
    whole: Story = [Picture(one, BOARD, BOARD) for one in board.all("svg")]
    near = _rows([_crop(one) for one in crops.elements])
    widths = [BOARD + 8, ROOM - BOARD - 8]
    style = TableStyle([*PADDED, ("LEFTPADDING", (0, 0), (0, -1), 0)])
    return [*story, LongTable([[whole, near]], widths, style=style), Spacer(0, 4)]


def _rows(crops: list[Story]) -> Story:
    """The crops of a board, some in a row."""
    if not crops:
        return []
    blank: Story = []
    rows = [crops[at : at + IN_A_ROW] for at in range(0, len(crops), IN_A_ROW)]
    rows[-1] += [blank] * (IN_A_ROW - len(rows[-1]))
    return [LongTable(rows, [2 * NEAR + 8] * IN_A_ROW, style=TableStyle([*PADDED, *BARE]))]


BARE: list[Any] = [("LEFTPADDING", (0, 0), (-1, -1), 0), ("RIGHTPADDING", (0, 0), (-1, -1), 2)]


def _crop(figure: Element) -> Story:
    pair: Story = [Picture(one, NEAR, NEAR) for one in figure.all("svg", "img")]
    beside = LongTable([pair], [NEAR + 2] * len(pair), style=TableStyle(BARE), hAlign="LEFT")
    return [beside, *(_paragraph(one, "figcaption") for one in figure.all("figcaption"))]


def _list(given: Element) -> Flowable:
    names, told = list(given.all("dt")), list(given.all("dd"))
    rows = [
        [_paragraph(name, "quiet"), _paragraph(one, "td", 3 * LONGEST)]
        for name, one in zip(names, told, strict=True)
    ]
    return LongTable(rows, [ROOM * 0.16, ROOM * 0.84], style=TableStyle(PADDED))

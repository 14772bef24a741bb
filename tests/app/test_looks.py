"""The colours of both themes can be read: WCAG AA, computed from the stylesheet itself."""

from __future__ import annotations

import re

import pytest

from app import assets

TEXT = 4.5
LINES = 3.0
PAIRS = [
    ("text", "bg", TEXT), ("text", "panel", TEXT), ("text", "sunk", TEXT),
    ("text", "accent-soft", TEXT),
    ("quiet", "bg", TEXT), ("quiet", "panel", TEXT), ("quiet", "sunk", TEXT),
    ("accent", "bg", TEXT), ("accent", "panel", TEXT), ("accent", "accent-soft", TEXT),
    ("accent-text", "accent", TEXT), ("good", "panel", TEXT), ("bad", "panel", TEXT),
    ("warn", "panel", TEXT), ("good", "bg", TEXT), ("bad", "bg", TEXT), ("warn", "bg", TEXT),
    ("line-strong", "panel", LINES), ("line-strong", "bg", LINES), ("focus", "panel", LINES),
    ("focus", "bg", LINES), ("focus", "surround", LINES),
]  # fmt: skip


def tokens(theme: str) -> dict[str, str]:
    """The colours of a theme; the dark one is written over the light one."""
    style = (assets.FOLDER / "styles" / "style.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", style.split(start)[1].split("}")[0]))
        for start in (":root {", 'html[data-theme="dark"] {')
    )
    return {**light, **dark} if theme == "dark" else light


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS)
def test_colours_stand_out_enough(theme: str, front: str, back: str, least: float) -> None:
    colors = tokens(theme)
    first, second = sorted((luminance(colors[front]), luminance(colors[back])), reverse=True)
    assert (first + 0.05) / (second + 0.05) >= least


def test_no_asset_asks_another_host() -> None:
    for path in assets.FOLDER.rglob("*"):
        if path.suffix in (".js", ".css", ".html"):
            found = re.findall(r"https?://[^\s\"')]+", path.read_text("utf-8"))
            assert [url for url in found if not url.startswith("http://www.w3.org/")] == [], path

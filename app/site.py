"""The site: its tabs in the order of the work, and the header that crosses them."""

from __future__ import annotations

from functools import cache

import gradio as gr

from app import assets, shells
from app.pages import annotate, browse, detect, jobs, models, projects, review, train

BOOT = "boot.js"
HEADER = "header.js"
STYLE = "style.css"
CANVAS_STYLE = "annotate.css"
TABS = (
    ("projects", "Projects", projects),
    ("browse", "Browse", browse),
    ("annotate", "Annotate", annotate),
    ("train", "Train", train),
    ("detect", "Detect", detect),
    ("review", "Review", review),
    ("models", "Models", models),
    ("jobs", "Jobs", jobs),
)


def build() -> gr.Blocks:
    """The one page of Loupe."""
    site = gr.Blocks(title="Loupe", fill_width=True, analytics_enabled=False)
    with site:
        shells.shell("header", HEADER)
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):
            for name, words, page in TABS:
                with gr.Tab(words, id=name, elem_id=name):
                    page.build()
    site.queue(default_concurrency_limit=8)
    return site


def head() -> str:
    """What stands in the page's <head>: one stylesheet, and the script that fills the shells."""
    style, boot = assets.url(STYLE), assets.url(BOOT)
    return f'<link rel="stylesheet" href="{style}"><script src="{boot}"></script>'


@cache
def needs(tab: str) -> tuple[str, ...]:
    """The files that the page needs when it opens at that tab."""
    pages = {name: page for name, _, page in TABS}
    modules = [HEADER, *([pages[tab].MODULE] if tab in pages else [])]
    every = dict.fromkeys(file for module in modules for file in assets.graph(module))
    return (STYLE, *((CANVAS_STYLE,) if "canvas/bench.js" in every else ()), *every)

"""The site: its tabs in the order of the work, and the header that crosses them."""

from __future__ import annotations

from functools import cache

import gradio as gr

from app import assets, shells

BOOT = "boot.js"
HEADER = "header/header.js"
STYLE = "styles/style.css"
CANVAS_STYLE = "styles/annotate.css"
TABS = (
    ("projects", "Projects"),
    ("overview", "Overview"),
    ("browse", "Browse"),
    ("annotate", "Annotate"),
    ("train", "Train"),
    ("detect", "Detect"),
    ("review", "Review"),
    ("models", "Models"),
    ("jobs", "Jobs"),
)


def build() -> gr.Blocks:
    """The one page of Loupe."""
    site = gr.Blocks(title="Loupe", fill_width=True, analytics_enabled=False)
    with site:
        shells.shell("header", HEADER)
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):
            for name, words in TABS:
                with gr.Tab(words, id=name, elem_id=name):
                    shells.shell(name, module(name))
    site.queue(default_concurrency_limit=8)
    return site


def module(tab: str) -> str:
    """The module of assets/ that fills a tab."""
    return f"pages/{tab}/{tab}.js"


def head() -> str:
    """What stands in the page's <head>: one stylesheet, and the script that fills the shells."""
    style, boot = assets.url(STYLE), assets.url(BOOT)
    return f'<link rel="stylesheet" href="{style}"><script src="{boot}"></script>'


@cache
def needs(tab: str) -> tuple[str, ...]:
    """The files that the page needs when it opens at that tab."""
    modules = [HEADER, *([module(tab)] if tab in dict(TABS) else [])]
    every = dict.fromkeys(file for module in modules for file in assets.graph(module))
    return (STYLE, *((CANVAS_STYLE,) if "desk/bench.js" in every else ()), *every)

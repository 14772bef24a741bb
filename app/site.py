"""The site: its tabs in the order of the work, and the header that crosses them."""

from __future__ import annotations

import gradio as gr

from app import assets, shells
from app.pages import annotate, browse, detect, jobs, models, projects, review, train

TABS = (
    ("projects", "Projects", projects.build),
    ("browse", "Browse", browse.build),
    ("annotate", "Annotate", annotate.build),
    ("train", "Train", train.build),
    ("detect", "Detect", detect.build),
    ("review", "Review", review.build),
    ("models", "Models", models.build),
    ("jobs", "Jobs", jobs.build),
)


def build() -> gr.Blocks:
    """The one page of Loupe."""
    site = gr.Blocks(title="Loupe", fill_width=True, analytics_enabled=False)
    with site:
        shells.shell("header", "header.js")
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):
            for name, words, build_page in TABS:
                with gr.Tab(words, id=name, elem_id=name):
                    build_page()
    site.queue(default_concurrency_limit=8)
    return site


def head() -> str:
    """What stands in the page's <head>: one stylesheet, the theme before the first paint."""
    return (
        f'<link rel="stylesheet" href="{assets.url("style.css")}">'
        f'<link rel="modulepreload" href="{assets.url("header.js")}">'
    )

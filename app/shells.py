"""The gr.HTML shells that the modules of assets/ fill; their templates are constant."""

from __future__ import annotations

import gradio as gr

from app import assets


def shell(name: str, module: str) -> gr.HTML:
    """An empty place in the page, filled by `mount(element)` of a module of assets/."""
    return gr.HTML(
        html_template='<div class="shell" aria-busy="true"></div>',
        js_on_load=(
            f"import({assets.url(module)!r}).then((module) => module.mount("
            "element.querySelector('.shell') ?? element, {trigger, watch, props}))"
        ),
        apply_default_css=False,
        elem_id=f"shell-{name}",
        elem_classes=["shell-block"],
    )

"""The places of the page that the modules of assets/ fill.

They are empty columns, which assets/boot.js fills, and not gr.HTML: that compiles its template and
its script in the browser, for which the policy of the page would have to allow eval.
"""

from __future__ import annotations

import gradio as gr


def shell(name: str, module: str) -> None:
    """An empty place in the page, filled by `mount(element)` of a module of assets/."""
    mounts = f"mounts-{module.removesuffix('.js')}"
    with gr.Column(elem_id=f"shell-{name}", elem_classes=["shell-block", mounts]):
        pass

"""The runtimes that a person may ask for, each with the precisions in which it computes."""

from __future__ import annotations

from backend.errors import Invalid

PRECISIONS = {
    "openvino": ("bf16", "f32", "int8"),
    "onnxruntime": ("f32",),
    "torch": ("f16", "f32"),
    "native": ("f32",),
}


def check(runtime: str, precision: str) -> None:
    """Refuse what no worker can carry out; an empty one leaves the choice to the worker."""
    if runtime and runtime not in PRECISIONS:
        raise Invalid(f"There is no runtime {runtime[:40]!r}; there are {', '.join(PRECISIONS)}.")
    if not precision:
        return
    named = {runtime: PRECISIONS[runtime]} if runtime else PRECISIONS
    known = sorted({one for precisions in named.values() for one in precisions})
    if precision not in known:
        of = f" of the runtime {runtime}" if runtime else ""
        raise Invalid(
            f"There is no precision {precision[:40]!r}{of}; there are {', '.join(known)}."
        )

# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["streamlit==1.67.*", "snowflake-snowpark-python>=1.50,<2", "pillow>=11,<13"]
# ///
"""Drives the page for Snowsight by Streamlit's own AppTest; prints what a person would see of it.

It runs in an environment of its own (uv run --script), in a folder with .streamlit/secrets.toml.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from streamlit.testing.v1 import AppTest


def seen(app: Any) -> dict[str, Any]:
    """What stands on the page."""
    return {
        "errors": [one.value for one in app.exception],
        "told": [one.value for one in (*app.info, *app.markdown, *app.caption)],
        "texts": [one.value for one in app.text],
        "pictures": [one.options for one in app.selectbox if one.key == "picture"],
        "tables": [one.value.to_dict("records") for one in app.dataframe],
        "images": len(app.get("image")),
    }


def acted(app: Any, steps: list[list[Any]]) -> Any:
    """What somebody does: a key of the page, and what it is set to."""
    for key, value in steps:
        one = next(widget for widget in (*app.sidebar, *app.main) if widget.key == key)
        app = one.set_value(value).run()
    return app


if __name__ == "__main__":
    page, walks = sys.argv[1], json.loads(sys.argv[2])
    answers = [seen(acted(AppTest.from_file(page, default_timeout=60).run(), one)) for one in walks]
    sys.stdout.write(json.dumps(answers, default=str))

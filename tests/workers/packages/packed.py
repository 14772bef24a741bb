"""Looks at pictures with a package, in a process that has nothing else; prints what it found.

As `packed.py laid CODE,MODEL PICTURE…` it is one that Loupe has laid out, as `packed.py registered
FOLDER PICTURE…` one that Snowflake's library has made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def laid_out(places: list[str], pictures: list[bytes]) -> list[str]:
    code, model = places
    sys.path.insert(0, code)
    from workers.packages.predictor import Predictor

    return Predictor(Path(model)).look(pictures)


def registered(places: list[str], pictures: list[bytes]) -> list[str]:
    import pandas as pd
    from snowflake.ml.model._packager.model_packager import ModelPackager

    package = ModelPackager(places[0])
    package.load()
    found = package.model.predict(pd.DataFrame({"IMAGE": pictures}))
    return list(found["RESULT"])


if __name__ == "__main__":
    way, places, shown = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    data = [Path(one).read_bytes() for one in shown]
    found = laid_out(places, data) if way == "laid" else registered(places, data)
    ours = [name for name in sys.modules if name.partition(".")[0] in ("workers", "backend")]
    files = [getattr(sys.modules[name], "__file__", "") for name in ours]
    heavy = [name for name in ("torch", "sqlalchemy", "pydantic_settings") if name in sys.modules]
    answer = {"found": [json.loads(one) for one in found], "files": files, "heavy": heavy}
    sys.stdout.write("\n" + json.dumps(answer))

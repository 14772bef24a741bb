"""What Snowflake's registry keeps of a model: a class that is pickled with its own source.

It names nothing of Loupe: what it runs comes along in the package. Its annotations are read when a
model is made, so they must be the types themselves.
"""

import importlib
from pathlib import Path
from typing import Any

import pandas as pd
from snowflake.ml.model import custom_model

PREDICTOR = "workers.packages.predictor"
BYTES = (bytes, bytearray, memoryview)


class PackagedModel(custom_model.CustomModel):  # type: ignore[misc]
    """Bytes of pictures in the column IMAGE, what was found in each as JSON in RESULT."""

    def __init__(self, context: Any = None) -> None:
        super().__init__(context)
        module = importlib.import_module(PREDICTOR)
        self.predictor = module.Predictor(Path(self.context.path("model")))

    @custom_model.inference_api  # type: ignore[untyped-decorator]
    def predict(self, pictures: pd.DataFrame) -> pd.DataFrame:
        """A row a picture; one that is not there says so, as one that cannot be read."""
        given = [bytes(one) if isinstance(one, BYTES) else b"" for one in pictures["IMAGE"]]
        return pd.DataFrame({"RESULT": self.predictor.look(given)})

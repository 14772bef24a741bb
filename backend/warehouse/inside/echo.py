"""The smallest model that Snowflake's registry takes: it says how many bytes it was given.

As with models of ours, it is pickled with its own source and names nothing of Loupe.
"""

import pandas as pd
from snowflake.ml.model import custom_model


class Echo(custom_model.CustomModel):  # type: ignore[misc]
    """Bytes in the column IMAGE, their number in RESULT."""

    @custom_model.inference_api  # type: ignore[untyped-decorator]
    def predict(self, pictures: pd.DataFrame) -> pd.DataFrame:
        """A row a picture."""
        return pd.DataFrame({"RESULT": [str(len(one)) for one in pictures["IMAGE"]]})

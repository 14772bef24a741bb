"""The only part of Loupe that speaks Ray and torch; may ask backend, never app.

Here, before any of them can be imported, the libraries that report their use to their makers are
kept from it: what a person looks at, and how often, is nobody else's. And torch's threads are told
to sleep while they wait for each other: on a busy machine their spinning is most of a training.
"""

import os
import sys
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ["DO_NOT_TRACK"] = "true"  # mlflow
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # ONNX Runtime
reporters: dict[str, Any] = {"openvino_telemetry": None}  # openvino and nncf do without it
sys.modules.update(reporters)

"""What the processes of a local pool have imported when they begin: their server does it once.

BLAS gets no threads there. Each process has one core, and a server with threads must not be forked.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import openvino

import workers.engine.pools.local
import workers.runtimes.openvino
import workers.runtimes.preparing

__all__ = ["openvino", "workers"]

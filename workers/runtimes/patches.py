"""The box branch of a YOLO head, computed only where a score says that there may be a box.

The branch is two 3×3 convolutions and a 1×1: one cell's answer needs the 5×5 cells around it. Of
thousands of cells some hundred are worth it, which saves a tenth of the whole network's time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

AROUND, MARGIN = 5, 2


def sides(branch: Any, features: Tensor, chosen: Tensor) -> Tensor:
    """What `branch` gives for the chosen cells (k) of features (1, c, h, w): (k, outputs)."""
    first, second, last = branch
    count, channels = chosen.shape[0], features.shape[1]
    index, inside = _neighbours(features.shape[2], features.shape[3])
    # What lies outside of the picture is zero, before the first convolution and after it.
    padded = functional.pad(features, (MARGIN,) * 4)
    rows = padded.permute(0, 2, 3, 1).reshape(-1, channels)
    patches = rows.index_select(0, index.index_select(0, chosen).reshape(-1))
    image = patches.reshape(count, AROUND, AROUND, channels).permute(0, 3, 1, 2)
    mask = inside.to(features.dtype).index_select(0, chosen)
    image = _valid(first, image) * mask.unsqueeze(1)
    return torch.as_tensor(last(_valid(second, image)).reshape(count, -1))


def _valid(layer: Any, image: Tensor) -> Tensor:
    """A fused layer without its padding."""
    return torch.as_tensor(layer.act(functional.conv2d(image, layer.conv.weight, layer.conv.bias)))


def _neighbours(height: Any, width: Any) -> tuple[Tensor, Tensor]:
    """For each cell the places of the 5×5 around it in the padded features, and which of the
    3×3 around it exist; constant for one shape."""
    around = torch.arange(AROUND)
    y = torch.arange(height).reshape(-1, 1, 1, 1) + around.reshape(1, 1, -1, 1)
    x = torch.arange(width).reshape(1, -1, 1, 1) + around.reshape(1, 1, 1, -1)
    index = y * (width + 2 * MARGIN) + x
    near = slice(1, AROUND - 1)
    y, x = y[:, :, near] - MARGIN, x[..., near] - MARGIN
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    return index.reshape(-1, AROUND**2), inside.reshape(-1, AROUND - 2, AROUND - 2)

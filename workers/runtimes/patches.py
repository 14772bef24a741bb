"""The box branch of a YOLO head, computed only where a score says that there may be a box.

The branch is two 3×3 convolutions and a 1×1: one cell's answer needs the 5×5 cells around it. Of
thousands of cells some hundred are worth it, which saves a tenth of the whole network's time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

AROUND, CELLS = 5, 25


def sides(branch: Any, features: Tensor, chosen: Tensor) -> Tensor:
    """What `branch` gives for the chosen cells (k) of features (1, c, h, w): (k, outputs)."""
    first, second, last = branch
    count, channels = chosen.shape[0], features.shape[1]
    index, inside = _neighbours(features.shape[2], features.shape[3])
    rows = features.permute(0, 2, 3, 1).reshape(-1, channels)
    patches = rows.index_select(0, index.index_select(0, chosen).reshape(-1))
    # What lies outside of the picture is zero, before the first convolution and after it.
    mask = inside.to(features.dtype).index_select(0, chosen)
    patches = patches.reshape(count, CELLS, channels) * mask.unsqueeze(2)
    image = patches.reshape(count, AROUND, AROUND, channels).permute(0, 3, 1, 2)
    middle = mask.reshape(count, 1, AROUND, AROUND)[:, :, 1:-1, 1:-1]
    image = _valid(first, image) * middle
    return torch.as_tensor(last(_valid(second, image)).reshape(count, -1))


def _valid(layer: Any, image: Tensor) -> Tensor:
    """A fused layer without its padding."""
    return torch.as_tensor(layer.act(functional.conv2d(image, layer.conv.weight, layer.conv.bias)))


def _neighbours(height: Any, width: Any) -> tuple[Tensor, Tensor]:
    """For each cell the 25 cells around it, and which of them exist; constant for one shape."""
    offset = torch.arange(AROUND) - AROUND // 2
    y = torch.arange(height).reshape(-1, 1, 1, 1) + offset.reshape(1, 1, -1, 1)
    x = torch.arange(width).reshape(1, -1, 1, 1) + offset.reshape(1, 1, 1, -1)
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    # Tensor arithmetic, so that a traced graph keeps the shape open.
    y = torch.minimum(y.clamp(min=0), torch.zeros_like(y) + (height - 1))
    x = torch.minimum(x.clamp(min=0), torch.zeros_like(x) + (width - 1))
    return (y * width + x).reshape(-1, CELLS), inside.reshape(-1, CELLS)

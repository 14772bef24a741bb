"""The GELU that int8 takes in the place of SiLU stays close to it."""

from __future__ import annotations

import torch
from torch import nn

from workers.runtimes import activations


class Layer(nn.Module):
    """A fused layer, as ultralytics writes it."""

    def __init__(self, act: nn.Module) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.act = act

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """The layer's answer."""
        return torch.as_tensor(self.act(self.conv(pixels)))


def test_a_traded_layer_answers_nearly_as_before() -> None:
    torch.manual_seed(0)
    layer, pixels = Layer(nn.SiLU()), torch.randn(1, 3, 32, 32) * 10
    before = layer(pixels)
    activations.trade(layer)
    apart = (layer(pixels) - before).abs()
    assert before.abs().max() > 5
    assert 0.02 < apart.max() < 0.035


def test_a_layer_without_silu_stays_as_it_is() -> None:
    layer, pixels = Layer(nn.Identity()), torch.randn(1, 3, 8, 8)
    before = layer(pixels)
    activations.trade(layer)
    assert torch.equal(layer(pixels), before)

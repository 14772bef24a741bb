"""Draws one face as a person wears, or does not wear, a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.sample.drawn import Pixels

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]

_SKINS = ((196, 215, 245), (160, 190, 232), (130, 166, 212), (96, 132, 186), (62, 92, 142))
_SKINS_DARK = ((44, 66, 108), (34, 50, 82))
_HAIRS = ((20, 22, 26), (24, 36, 56), (40, 70, 110), (80, 130, 180), (120, 122, 126))
_MASKS = ((236, 238, 238), (222, 196, 140), (206, 214, 166), (40, 40, 42), (190, 150, 220))
_FINE = 4


def bgr(values: Sequence[float] | NDArray[np.float64]) -> Colour:
    blue, green, red = (int(min(max(v, 0), 255)) for v in values)
    return blue, green, red


def _shade(colour: Colour, factor: float) -> Colour:
    return bgr([channel * factor for channel in colour])


@dataclass(frozen=True, slots=True)
class _Look:
    """What one person looks like."""

    skin: Colour
    hair: Colour
    mask: Colour
    clothes: Colour
    long_hair: bool
    bald: bool
    glasses: bool
    hat: bool
    beard: bool


def _person(rng: Generator) -> _Look:
    skins = _SKINS + _SKINS_DARK
    tone = rng.normal(0, 6)
    return _Look(
        skin=bgr([v + tone for v in skins[int(rng.integers(len(skins)))]]),
        hair=_HAIRS[int(rng.integers(len(_HAIRS)))],
        mask=_shade(
            _MASKS[int(rng.choice(5, p=(0.3, 0.3, 0.12, 0.2, 0.08)))], rng.uniform(0.88, 1)
        ),
        clothes=bgr(rng.uniform(20, 220, 3)),
        long_hair=bool(rng.random() < 0.4),
        bald=bool(rng.random() < 0.1),
        glasses=bool(rng.random() < 0.22),
        hat=bool(rng.random() < 0.12),
        beard=bool(rng.random() < 0.15),
    )


class Face:
    """A face in its own frame: the head reaches from -1 to 1 down, and turns and tilts a little."""

    def __init__(self, pixels: Pixels, rng: Generator, x: float, y: float, size: float) -> None:
        self.pixels, self.rng, self.look = pixels, rng, _person(rng)
        self.half = size / 2
        self.wide = rng.uniform(0.7, 0.8)
        self.turn = rng.uniform(-0.28, 0.28)
        angle = rng.normal(0, 0.09)
        self.frame = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        self.centre = np.array([x, y])

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """From the hairline to the chin, and from ear to ear."""
        spots = self._at([(-self.wide, -0.72), (self.wide, -0.72), (-0.4, 1), (0.4, 1)])
        (x1, y1), (x2, y2) = spots.min(0), spots.max(0)
        return float(x1), float(y1), float(x2), float(y2)

    def draw(self, label: str) -> None:
        self._body()
        self._head()
        self._features()
        WEAR[label](self)

    def _body(self) -> None:
        look = self.look
        if look.long_hair and not look.bald:
            self._fill([(-0.98, -0.5), (0.98, -0.5), (1.05, 1.2), (-1.05, 1.2)], look.hair)
        self._fill(
            [
                (-1.8, 40),
                (-1.8, 2),
                (-1.5, 1.45),
                (-0.5, 1.1),
                (0.5, 1.1),
                (1.5, 1.45),
                (1.8, 2),
                (1.8, 40),
            ],
            look.clothes,
        )
        self._fill(
            [(-0.36, 0.6), (0.36, 0.6), (0.42, 1.28), (0, 1.42), (-0.42, 1.28)],
            _shade(look.skin, 0.78),
        )

    def _head(self) -> None:
        look, wide = self.look, self.wide
        if not look.bald:
            self._oval(0, -0.22, wide * 1.13, 0.92, look.hair)
        for side in (-1, 1):
            self._oval(side * wide * 0.98, 0.02, 0.12, 0.2, _shade(look.skin, 0.86))
        self._oval(0, -0.02, wide, 0.86, look.skin)
        self._fill(self._jaw(), look.skin)
        self._oval(self.turn * 0.8, -0.42, wide * 0.6, 0.22, _shade(look.skin, 1.06))
        if not look.bald:
            fringe = self.rng.uniform(-0.62, -0.5)
            self._fill(
                [
                    (-wide, -0.3),
                    (-wide * 0.8, -0.78),
                    (0, -1.02),
                    (wide * 0.8, -0.78),
                    (wide, -0.3),
                    (wide * 0.7, fringe),
                    (self.turn, fringe - 0.1),
                    (-wide * 0.7, fringe),
                ],
                look.hair,
            )
        if look.hat:
            self._fill(
                [(-wide * 1.1, -0.5), (-wide, -1.1), (wide, -1.1), (wide * 1.1, -0.5)], look.clothes
            )

    def _jaw(self) -> Points:
        wide = self.wide
        return [
            (-wide, 0),
            (-wide * 0.9, 0.5),
            (-wide * 0.5, 0.88),
            (0, 1),
            (wide * 0.5, 0.88),
            (wide * 0.9, 0.5),
            (wide, 0),
        ]

    def _features(self) -> None:
        look, turn = self.look, self.turn
        dark = _shade(look.skin, 0.62)
        if look.beard:
            self._fill(
                [(-0.62, 0.3), (0.62, 0.3), (0.5, 0.86), (0, 1), (-0.5, 0.86)],
                _shade(look.hair, 1.1),
            )
        for side in (-1, 1):
            x = side * 0.33 + turn * 0.7
            self._oval(x, -0.12, 0.15, 0.075, (236, 236, 238))
            self._oval(x + turn * 0.12, -0.12, 0.07, 0.075, (40, 42, 50))
            self._line([(x - 0.18, -0.29), (x, -0.34), (x + 0.18, -0.29)], look.hair, 0.055)
            if look.glasses:
                self._ring(x, -0.12, 0.24, 0.18)
        self._fill(
            [(turn - 0.03, -0.1), (turn * 1.4 + 0.13, 0.3), (turn * 1.4 - 0.13, 0.3)],
            _shade(look.skin, 0.9),
        )
        self._line(
            [(turn * 1.4 - 0.12, 0.31), (turn * 1.4, 0.35), (turn * 1.4 + 0.12, 0.31)], dark, 0.045
        )
        smile = self.rng.uniform(-0.03, 0.08)
        self._fill(
            [
                (turn - 0.26, 0.58 - smile),
                (turn, 0.53),
                (turn + 0.26, 0.58 - smile),
                (turn, 0.7 + smile),
            ],
            (92, 88, 176),
        )
        self._line(
            [(turn - 0.26, 0.58 - smile), (turn, 0.6), (turn + 0.26, 0.58 - smile)],
            (50, 50, 96),
            0.03,
        )

    # Masks

    def worn(self) -> None:
        """Over nose and mouth and under the chin."""
        self._mask(self.rng.uniform(0.0, 0.12), 1.03)

    def bare(self) -> None:
        """No mask at all."""

    def wrong(self) -> None:
        """Under the nose, under the mouth, or hanging from one ear."""
        way = self.rng.choice(3, p=(0.5, 0.4, 0.1))
        if way == 2:
            side = float(self.rng.choice((-1, 1)))
            x = side * self.wide
            self._fill(
                [(x * 0.7, 0.2), (x * 1.15, 0.15), (x * 1.1, 0.95), (x * 0.72, 0.9)], self.look.mask
            )
        else:
            self._mask(self.rng.uniform(*((0.4, 0.48), (0.72, 0.8))[way]), 1.1)

    def _mask(self, top: float, bottom: float) -> None:
        wide, turn, cloth = self.wide, self.turn, self.look.mask
        side = min(top + 0.14, 0.9)
        for end in (-1, 1):
            self._line([(end * wide * 0.8, side), (end * wide, 0.0)], _shade(cloth, 0.92), 0.04)
            self._line([(end * wide * 0.7, 0.8), (end * wide, 0.12)], _shade(cloth, 0.92), 0.04)
        edge = [
            (-wide * 0.9, side),
            (turn - 0.15, top),
            (turn + 0.15, top),
            (wide * 0.9, side),
            (wide * 0.82, 0.66),
            (wide * 0.48, 0.94),
            (turn * 0.5, bottom),
            (-wide * 0.48, 0.94),
            (-wide * 0.82, 0.66),
        ]
        self._fill(edge, cloth)
        for fold in np.linspace(top + 0.16, bottom - 0.16, 3):
            if bottom - top > 0.5:
                self._line(
                    [(-wide * 0.68, fold), (turn, fold + 0.04), (wide * 0.68, fold)],
                    _shade(cloth, 0.87),
                    0.025,
                )
        self._line([edge[0], *edge[1:3], edge[3]], _shade(cloth, 0.8), 0.035)

    # Drawing in the face's frame

    def _at(self, points: Points) -> NDArray[np.float64]:
        moved: NDArray[np.float64] = (np.asarray(points, float) * self.half) @ self.frame.T
        return self.centre + moved

    def _dots(self, points: Points) -> list[NDArray[np.int32]]:
        return [np.round(self._at(points) * (1 << _FINE)).astype(np.int32)]

    def _fill(self, points: Points, colour: Colour) -> None:
        cv2.fillPoly(self.pixels, self._dots(points), colour, cv2.LINE_AA, _FINE)

    def _line(self, points: Points, colour: Colour, thick: float) -> None:
        width = max(1, round(thick * self.half))
        cv2.polylines(self.pixels, self._dots(points), False, colour, width, cv2.LINE_AA, _FINE)

    def _oval(self, x: float, y: float, wide: float, high: float, colour: Colour) -> None:
        around = np.linspace(0, 2 * np.pi, 25)[:-1]
        points = np.stack((x + wide * np.cos(around), y + high * np.sin(around)), 1)
        self._fill([(float(a), float(b)) for a, b in points], colour)

    def _ring(self, x: float, y: float, wide: float, high: float) -> None:
        around = np.linspace(0, 2 * np.pi, 21)
        points = np.stack((x + wide * np.cos(around), y + high * np.sin(around)), 1)
        self._line([(float(a), float(b)) for a, b in points], (30, 30, 34), 0.028)


WEAR: dict[str, Callable[[Face], None]] = {
    "with_mask": Face.worn,
    "without_mask": Face.bare,
    "mask_weared_incorrect": Face.wrong,
}

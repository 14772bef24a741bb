"""What is true of every home, one row each; `loupe check` asks them all."""

from __future__ import annotations

from backend.services.invariants import history, leading, repeating, within
from backend.services.invariants.rule import Rule

RULES: tuple[Rule, ...] = (*leading.rules(), *history.RULES, *within.RULES, *repeating.RULES)

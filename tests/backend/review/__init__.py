"""Decisions, the rule, reports, blind repeats, and where a box comes from."""

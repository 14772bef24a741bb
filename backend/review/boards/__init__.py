"""The boards of a run with their verdicts, and what they add up to; may ask the rest of review and the rooms before it."""

"""The paper against the code: what the guide names exists, and what exists is named."""

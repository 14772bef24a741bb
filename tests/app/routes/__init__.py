"""The rooms' routes over a real home, and what holds for every route there is."""

"""Trainings and what came of them; may ask labels and projects, and knows no run."""

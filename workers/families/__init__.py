"""The model families, behind the contract in base.py; may ask no room, no job and no database."""

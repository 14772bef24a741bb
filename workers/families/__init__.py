"""The model families, behind the contract in base.py; may ask training and weights, but no room."""

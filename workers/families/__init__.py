"""The model families, one module or package each, behind the contract in base.py."""

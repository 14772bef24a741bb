"""How a trained model is run fast, one module a runtime."""

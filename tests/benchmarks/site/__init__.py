"""The whole site under many people, kills and senseless requests."""

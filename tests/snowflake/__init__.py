"""Snowflake as tests have it: what its emulator lacks, and processes that speak with it."""

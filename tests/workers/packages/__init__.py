"""Packages: what one finds by itself, and how one gets into Snowflake's registry."""

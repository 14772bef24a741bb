"""Pictures that lie in Snowflake."""

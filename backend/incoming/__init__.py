"""Pictures that lie in Snowflake, on stages and in tables; may ask labels and the warehouse."""

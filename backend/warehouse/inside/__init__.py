"""What runs inside Snowflake, models and a page: may ask the address and connection beside it."""

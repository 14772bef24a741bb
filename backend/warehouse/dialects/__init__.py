"""How each kind of warehouse is written; may ask tables, views, queries and address alone."""

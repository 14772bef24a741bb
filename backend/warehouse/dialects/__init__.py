"""How each kind of warehouse is written; asks tables, views, queries and address alone."""

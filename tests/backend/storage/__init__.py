"""The database and the files: engines, migrations, classes by id, who writes when."""

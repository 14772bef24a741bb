"""Label formats, each a reader and a writer; may ask no database, only the files of a source."""

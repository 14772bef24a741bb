"""Our exports opened in other programs, some in an environment of their own."""

"""One file per command: a record → a Document."""

"""Our report beside those of other programs: the document (`toolvet-peers/1`), and its formats."""

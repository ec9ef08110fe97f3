"""Keep house in a store of verdicts: export, import, prune, check."""

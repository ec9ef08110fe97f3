"""Review verdicts: list the queue, take the next one, label it, and see how far reviewers agree."""

"""Exit codes that no exception of ours stands for; `errors.py` knows the others."""

BUG = 5
INTERRUPTED = 130

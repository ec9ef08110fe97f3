"""One rule a file: its card and what it looks for. A new file here is a new rule everywhere."""

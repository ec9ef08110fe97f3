"""The contract response-v2, stated once: its words, the shapes it is written in, and the table of what goes where."""

"""The pages: each file has a tuple `PAGES`, and is found because it is here."""

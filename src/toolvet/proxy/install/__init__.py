"""A client's configuration file ↔ the same file with its servers behind `toolvet proxy`."""

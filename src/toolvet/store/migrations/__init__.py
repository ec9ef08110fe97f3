"""Migrations of a store with Alembic: `versions/NNNN_what.py`, where NNNN is the revision. `upgrade` runs them."""

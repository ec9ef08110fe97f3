"""Every test that takes `url` runs on SQLite and on PostgreSQL."""

from tests.store.conftest import postgres, url

__all__ = ["postgres", "url"]

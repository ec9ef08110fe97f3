"""The version, in a file of its own so that the build can read it without importing anything."""

__version__ = "0.1.0"
# Whether the name is on the package index. After a change, `TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/test_install.py`
# rewrites the lines of the docs.
PUBLISHED = False


def requirement(extras: str = "") -> str:
    """Return what pip installs: `toolvet[http]` from the index, until toolvet is there from its repository."""
    name = f"toolvet[{extras}]" if extras else "toolvet"
    return name if PUBLISHED else f"{name} @ git+https://github.com/toolvet/toolvet"

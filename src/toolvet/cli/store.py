"""The option `--store`, as all commands read it."""

import getpass
import sys
from typing import TYPE_CHECKING

from toolvet.core.settings import load_settings
from toolvet.errors import UsageError
from toolvet.store.address import StoreAddress
from toolvet.store.private_file import make_private
from toolvet.store.settings import StoreSettings

if TYPE_CHECKING:
    from toolvet.store import Store

DEFAULT_STORE = "toolvet.db"
"""The store of commands that need one, where neither an option nor the environment nor a settings file names it."""


def store_url(given: str | None) -> str:
    """Return the store that an option names, else the one of the settings file, else the default one."""
    return given or load_settings(None)[StoreSettings].url or DEFAULT_STORE


def note_deed(store: "Store", action: str, target: str) -> None:
    """Write into the audit log what is about to be done. Raises StoreError, and then it should not be done."""
    from toolvet.store.audit import write_entry  # noqa: PLC0415 - SQLAlchemy, for a few commands

    if store.address.kind == "lines":
        # A file of lines has no log.
        return
    try:
        who = getpass.getuser()
    except (KeyError, OSError):
        who = ""
    write_entry(store, who, action, target)


def checked_store(given: str) -> str:
    """Return a path or URL for `Store`; a path is absolute. Raises UsageError where it cannot be one.

    Says on stderr where others can read the file and we may not change that.
    """
    address = StoreAddress.read(given)
    if address.path is None:
        return given
    if not address.path.parent.is_dir():
        raise UsageError(f"--store {given}: there is no folder {address.path.parent}")
    if not make_private(address.path):
        sys.stderr.write(f"toolvet: --store {given}: others can read it, and it is not ours to change that\n")
    return str(address.path)

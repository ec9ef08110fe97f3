"""`[store]` of a settings file."""

from typing import ClassVar, Final

import msgspec


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[store]`: where verdicts are kept (`url`, a path or a URL), and how long (`30d`) or how much of it (`2GiB`).

    With `sync` they outlive a power failure. `store = "verdicts.db"` is short for its `url`.
    """

    TEXT: ClassVar = "url"

    url: str | None = None
    older_than: str | None = None
    max_size: str | None = None
    sync: bool = False


SECTIONS: Final = {"store": StoreSettings}

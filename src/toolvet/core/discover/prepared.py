"""Cache entries that a wheel ships. They were built with the wheel, so that no machine has to wait for them.

    pack(cache_folder, package / "prepared")    # the build of a wheel (hatch_build.py), `toolvet warm --for-all`
    prepared(name)                              # any process: the content of an entry, or None

An entry has the same name here as in the cache: the digest of everything that it was built from, so what does not fit
the installed phrases, engine and processor is never found. The folder belongs to the package, beside its code: who can
write there can write the code, too.
"""
# ruff: noqa: PTH118, PTH120, PTH123 - as in `cache`: pathlib would cost every start 8 ms.

import os
import zlib
from typing import Final

FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prepared")
_OTHERS_MAY_WRITE: Final = 0o002


def prepared(name: str) -> bytes | None:
    """Return the content of the entry of this name; None if the package ships none, or a damaged one."""
    try:
        with open(os.path.join(FOLDER, name), "rb", buffering=0) as file:
            # As code, it may be installed for a group to write; but what everybody may write is not loaded.
            if os.name != "nt" and os.fstat(file.fileno()).st_mode & _OTHERS_MAY_WRITE:
                return None
            packed = file.readall()
        return zlib.decompress(packed)
    except (OSError, zlib.error):
        return None


def is_prepared(name: str) -> bool:
    """Return whether the package ships an entry of this name."""
    return os.path.exists(os.path.join(FOLDER, name))  # noqa: PTH110 - as above


def pack(entries: dict[str, bytes], folder: str) -> int:
    """Write entries, content by name, to a folder of the package, in place of those there; return the bytes written."""
    os.makedirs(folder, mode=0o755, exist_ok=True)  # noqa: PTH103 - as above
    for old in os.listdir(folder):  # noqa: PTH208 - as above
        if old not in entries:
            os.unlink(os.path.join(folder, old))  # noqa: PTH108 - as above
    total = 0
    for name, content in sorted(entries.items()):
        packed = zlib.compress(content, 9)
        path = os.path.join(folder, name)
        partial = f"{path}.{os.getpid()}"
        with open(partial, "wb") as file:
            file.write(packed)
        os.chmod(partial, 0o644)  # noqa: PTH101 - as above
        os.replace(partial, path)  # noqa: PTH105 - as above
        total += len(packed)
    return total

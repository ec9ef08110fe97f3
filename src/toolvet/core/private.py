"""Folders and files whose name another user of the machine can guess: used only if that user cannot change them.

own_folder("/tmp/toolvet-1000-run", OTHERS)      made if it is missing; False for a link, or for what is another's
open_own("/tmp/toolvet-1000-run/hook.log", os.O_RDONLY, OTHERS_MAY_WRITE)
"""
# ruff: noqa: PTH102, PTH116 - pathlib would cost more than a call of a hook.

import os
import stat

OTHERS = 0o077
OTHERS_MAY_WRITE = 0o022
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def is_ours(seen: os.stat_result, closed: int, *owners: int) -> bool:
    """Return whether this user, or one of the owners, has what was seen, with none of the modes `closed` set.

    On Windows there are neither such ids nor such modes.
    """
    if not hasattr(os, "getuid"):
        return True
    return seen.st_uid in (os.getuid(), *owners) and not seen.st_mode & closed


def own_folder(path: str, closed: int, *owners: int) -> bool:
    """Make a folder that only its owner can enter, or look at the one that is there; return whether it is ours.

    Raises OSError, or `FileNotFoundError` if the folder above is missing.
    """
    try:  # noqa: SIM105 - contextlib would cost every call of a hook 1 ms
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    # A link would lead into a folder that another user chose.
    seen = os.stat(path, follow_symlinks=False)
    return stat.S_ISDIR(seen.st_mode) and is_ours(seen, closed, *owners)


def open_own(path: str, flags: int, closed: int, *owners: int) -> int:
    """Open a file (0600 if it is made) and return its descriptor. Raises OSError for a link, or another user's file."""
    descriptor = os.open(path, flags | NO_LINKS | getattr(os, "O_CLOEXEC", 0), 0o600)
    seen = os.fstat(descriptor)
    if stat.S_ISREG(seen.st_mode) and is_ours(seen, closed, *owners):
        return descriptor
    os.close(descriptor)
    raise PermissionError(1, "it belongs to another user, or others may write to it", path)

"""A lock on a file that the system gives back when its process ends, however it ends."""

import sys

if sys.platform == "win32":
    import msvcrt

    def try_lock(fd: int) -> bool:
        """Lock the file, for as long as it is open. Returns False where another process holds the lock."""
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(fd: int) -> bool:
        """Lock the file, for as long as it is open. Returns False where another process holds the lock."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

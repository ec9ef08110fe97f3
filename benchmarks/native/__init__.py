"""Forwarders in C, the peers that say what a native core would give (README.md)."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
HOW: Final = {
    "nothing": ("a native core, nothing read", "reads nothing, checks nothing"),
    "walk": ("a native core that walks the JSON", "checks nothing, records nothing"),
    "session": ("a native core, the checks in Python", "records nothing, keeps no limits"),
}
"""The three ways of a core: their names, and what they do not do."""


def compiled(name: str, folder: Path) -> Path | None:
    """Compile a core into a folder; None without a compiler."""
    if shutil.which("cc") is None:
        print("no C compiler here: the native cores are left out")
        return None
    found = folder / f"{name}.so"
    source = HERE / f"{name}.c"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", str(found), str(source)], check=True)
    return found

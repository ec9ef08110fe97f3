"""Builds a wheel with the compiled phrases in it, so that the first check on a machine does not have to compile them.

They are compiled with TOOLVET_COMPILE_PHRASES=1 (releases, images), by the hyperscan of the build environment and for
this platform; `toolvet.core.discover.prepared` reads them. Without the variable the wheel is one for all platforms:
`pip install` from a checkout would be silent for as long as compiling takes, so the first check compiles instead, in
the background.
"""

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PREPARE = """
import sys
from toolvet.core.discover.cache import entries_of
from toolvet.core.discover.prepared import pack
from toolvet.core.turn.warming import prepare
pack(entries_of(prepare), sys.argv[1])
print(*[name for name in sys.modules if name == "hyperscan"])
"""


class PreparedPhrasesHook(BuildHookInterface[Any]):
    """Adds the folder `toolvet/core/prepared` to a wheel, and says for which platform it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the phrases if the environment asks for it. Raises RuntimeError if that fails."""
        if version == "editable" or os.environ.get("TOOLVET_COMPILE_PHRASES") != "1":
            return
        self.app.display_info("Compiling the phrases takes about half a minute.")
        self._place = TemporaryDirectory()
        folder = Path(self._place.name, "prepared")
        environment = {**os.environ, "PYTHONPATH": search_path(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PREPARE, str(folder)], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or "hyperscan" not in done.stdout:
            self.finalize(version, build_data, "")
            raise RuntimeError(f"the phrases were not compiled: {done.stderr or 'there is no hyperscan here'}")
        build_data["force_include"][str(folder)] = "toolvet/core/prepared"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel."""
        del version, build_data, artifact_path
        place = getattr(self, "_place", None)
        if place is not None:
            place.cleanup()


def search_path(root: str) -> str:
    """Return our source and all of `sys.path`, where an installer that isolates a build puts what the build needs."""
    return os.pathsep.join([str(Path(root, "src")), *filter(None, sys.path)])


def platform_tag() -> str:
    """Return the platforms that the databases fit: they are data, so on Linux those of any C library."""
    machine = platform.machine().lower()
    if sys.platform == "linux":
        return f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
    if sys.platform == "darwin":
        return f"macosx_11_0_{machine}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")

"""The list of public names is true, and importing it stays cheap."""

import subprocess
import sys

import pytest

import toolvet

DRIVERS = ("mcp", "httpx2", "rich", "cyclopts", "asyncio", "jinja2")


def test_every_public_name_is_there_and_documented() -> None:
    for name in toolvet.__all__:
        value = getattr(toolvet, name)
        assert name == "__version__" or value.__doc__, name


@pytest.mark.parametrize("module", DRIVERS)
def test_importing_toolvet_does_not_load_what_only_drivers_need(module: str) -> None:
    code = f"import sys, toolvet; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

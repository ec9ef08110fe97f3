"""The list of public names is true, and importing it stays cheap."""

import subprocess
import sys

import pytest

import toolvet

DRIVERS = ("mcp", "httpx2", "rich", "cyclopts", "asyncio", "jinja2")


def test_the_lazy_names_are_exactly_the_public_ones() -> None:
    lazy = {name for names in toolvet._HOMES.values() for name in names.split()}
    assert lazy | {"__version__"} == set(toolvet.__all__)
    assert set(toolvet.__all__) <= set(dir(toolvet))


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="check_nothing"):
        toolvet.check_nothing  # type: ignore[attr-defined]  # noqa: B018


def test_every_public_name_is_there_and_documented() -> None:
    for name in toolvet.__all__:
        value = getattr(toolvet, name)
        assert name == "__version__" or value.__doc__, name


@pytest.mark.parametrize("module", DRIVERS)
def test_the_checks_do_not_load_what_only_drivers_need(module: str) -> None:
    every = "[getattr(toolvet, name) for name in toolvet.__all__]"
    code = f"import sys, toolvet; {every}; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Every example in a docstring is run, and gives what the docstring says."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import toolvet

SOURCE = Path(toolvet.__file__).parent
# Modules whose examples need an extra that `make test` does not install.
NEEDS = {"toolvet.agents.integrations.embedding": "wordllama", "toolvet.proxy.record.telemetry": "opentelemetry.sdk"}
MODULES = sorted(
    ".".join(("toolvet", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_do_what_they_say(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    failures, _ = doctest.testmod(import_module(name), optionflags=doctest.REPORT_NDIFF)
    assert failures == 0

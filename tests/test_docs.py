"""Every Python example in the documentation and in docstrings is run, and gives what it says."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
WITH_EXAMPLES = sorted(file for file in SRC.rglob("*.py") if "    >>> " in file.read_text(encoding="utf-8"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_do_what_it_says(page: Path) -> None:
    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert failures == 0


def test_the_readme_has_examples() -> None:
    assert doctest.DocTestParser().get_examples((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: file.relative_to(SRC).as_posix())
def test_the_examples_of_docstrings_do_what_they_say(file: Path) -> None:
    name = ".".join(file.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
    failures, attempted = doctest.testmod(import_module(name), optionflags=doctest.REPORT_NDIFF | doctest.ELLIPSIS)
    assert (failures, attempted > 0) == (0, True)

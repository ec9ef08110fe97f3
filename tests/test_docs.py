"""Every Python example in the documentation is run, and gives what the documentation says."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Pages whose examples need an extra that `make test` does not install.
NEEDS = {"semantics.md": "wordllama"}
# Made of docstrings, whose examples run in place.
MADE = {"api.md"}
PAGES = sorted(page for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")] if page.name not in MADE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_do_what_it_says(page: Path) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert failures == 0


def test_the_readme_has_examples() -> None:
    assert doctest.DocTestParser().get_examples((ROOT / "README.md").read_text(encoding="utf-8"))

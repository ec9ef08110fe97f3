"""docs/causes.md is what the table says."""

from pathlib import Path

from toolvet.core.causes import State
from toolvet.core.causes.page import render_causes_page

PAGE = Path(__file__).parents[3] / "docs" / "causes.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_causes_page(), (
        "python -m toolvet.core.causes.page > docs/causes.md"
    )


def test_every_state_is_on_the_page() -> None:
    page = render_causes_page()
    assert all(f"| `{state}` |" in page for state in State)

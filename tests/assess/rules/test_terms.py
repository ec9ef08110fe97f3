"""Status, score and confidence: each word is defined once, and every status of a report has its definition."""

import pytest

from toolvet.assess.report.wording import STATUS
from toolvet.assess.rules.page import render_checks_page
from toolvet.assess.rules.terms import STATUSES, TERMS


def test_every_status_is_defined() -> None:
    assert list(STATUS.values()) == list(STATUSES)


@pytest.mark.parametrize("term", TERMS)
def test_every_term_is_on_the_page(term: str) -> None:
    assert f'<a id="{term}"></a>' in render_checks_page()

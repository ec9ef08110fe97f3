"""Status, score and confidence: each word is defined once, and every status of a report has its definition."""

import pytest

from toolvet.report.wording import STATUS
from toolvet.rules.foreign import is_foreign, read_foreign_source
from toolvet.rules.outage import Missing, missing_in
from toolvet.rules.page import render_checks_page
from toolvet.rules.terms import STATUSES, TERMS


def test_every_status_is_defined() -> None:
    assert list(STATUS.values()) == list(STATUSES)


@pytest.mark.parametrize("term", TERMS)
def test_every_term_is_on_the_page(term: str) -> None:
    assert f'<a id="{term}"></a>' in render_checks_page()


@pytest.mark.parametrize("words", read_foreign_source().hits)
def test_an_error_in_another_language_is_known(words: str) -> None:
    assert is_foreign(words)


@pytest.mark.parametrize("words", read_foreign_source().misses)
def test_an_english_error_is_no_foreign_one(words: str) -> None:
    assert not is_foreign(words)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("Error: spawn rg ENOENT", Missing("program", "rg")),
        ("bash: ffmpeg: command not found", Missing("program", "ffmpeg")),
        ("getaddrinfo EAI_AGAIN api.example.com", Missing("host", "api.example.com")),
        ("dial tcp: lookup db.internal.example: no such host", Missing("host", "db.internal.example")),
        ("fetch failed for https://api.example.com/v1/x", Missing("host", "api.example.com")),
        ("TAVILY_API_KEY is not set", Missing("variable", "TAVILY_API_KEY")),
        ("net::ERR_CONNECTION_REFUSED at http://localhost:3000/", Missing("host", "localhost:3000")),
        ("the service is unavailable", Missing("service")),
    ],
)
def test_what_is_missing_is_read_from_the_words(words: str, missing: Missing) -> None:
    assert missing_in(words) == missing

"""Faults of a server's HTTP transport are found, against a hand-written server that has one fault at a time."""

import asyncio
import json
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
import pytest
from tests.servers.careless_http import CarelessServer, careless_http

from toolvet.assess import Options, Report, assess
from toolvet.assess.http_probes import MOST_REQUESTS, probe_table
from toolvet.mcp.transport import HttpTarget

METHODS = {"initialize", "notifications/initialized", "ping", "server/discover"}
TOKEN = "tk-5e9f0c41d27b"

# The fault of the server, and the findings that it must bring, with their severity.
FAULTS = {
    "any-origin any-host": {"http-origin-unchecked": "error"},
    "any-origin": {"http-origin-unchecked": "info"},
    "any-origin any-type": {"http-origin-unchecked": "error", "http-content-type-unchecked": "warning"},
    "null-origin": {"http-origin-unchecked": "info"},
    "any-host": {"http-host-unchecked": "info"},
    "no-own-origin": {"http-own-origin-refused": "info"},
    "cors": {"http-cors-credentials": "warning"},
    "any-type": {},
    "any-version": {"http-version-unchecked": "warning"},
    "version-demanded": {"http-version-demanded": "warning"},
    "any-session": {"http-session-unchecked": "error"},
    "endless-sessions": {"http-session-unchecked": "error"},
    "any-session no-delete": {"http-session-unchecked": "warning", "http-delete-status": "warning"},
    "session-400": {"http-session-status": "error"},
    "counted-ids": {"http-session-id-guessable": "warning"},
    "illegal-ids": {"http-session-id-illegal": "error"},
    "no-delete": {"http-delete-status": "warning"},
    "get-page": {"http-get-answer": "error"},
    "accept-all": {"http-broken-json-accepted": "error"},
    "accept-foreign": {"http-broken-json-accepted": "error"},
    "batches": {"http-batch-answered": "info"},
    "notified-with-200": {"http-notification-status": "warning"},
    "crash": {"http-request-crash": "error"},
    "cut": {"http-request-crash": "error"},
    "trace": {"http-error-leak": "warning"},
}
MODERN_FAULTS = {
    "": {},
    "unmirrored": {"http-header-mismatch": "error"},
    "plain-version-error": {"http-version-error": "warning"},
    "bare-metadata": {"http-metadata-unchecked": "warning"},
    "unknown-under-200": {"http-method-status": "warning"},
}


def assessed(server: CarelessServer, **options: object) -> Report:
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else None
    return asyncio.run(assess(HttpTarget(server.url, headers), Options(timeout=10, **options)))  # type: ignore[arg-type]


def about_transport(report: Report) -> dict[str, str]:
    return {finding.id: finding.severity.value for finding in report.findings if finding.id.startswith("http-")}


def split(faults: str) -> AbstractSet[str]:
    return frozenset(faults.split())


def test_a_careful_server_gets_no_finding_and_every_probe_is_answered_as_wanted() -> None:
    with careless_http() as server:
        report = assessed(server)
    assert about_transport(report) == {}
    assert report.score == 100.0
    assert report.transport is not None
    assert [probe.id for probe in report.transport.probes if probe.as_wanted is not True] == []
    assert len(report.transport.probes) > 20


@pytest.mark.parametrize("faults", FAULTS, ids=str)
def test_a_fault_is_found_and_nothing_else(faults: str) -> None:
    with careless_http(split(faults)) as server:
        assert about_transport(assessed(server)) == FAULTS[faults]


@pytest.mark.parametrize("faults", MODERN_FAULTS, ids=lambda faults: faults or "none")
def test_a_fault_of_2026_07_28_is_found_and_nothing_else(faults: str) -> None:
    with careless_http(split(faults), modern=True) as server:
        report = assessed(server)
    assert report.server.protocol_version == "2026-07-28"
    assert about_transport(report) == MODERN_FAULTS[faults]


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ("", {}),
        ("no-challenge", {"http-challenge-missing": "error"}),
        ("any-token", {"http-credentials-unchecked": "error"}),
    ],
    ids=["careful", "no challenge", "any token"],
)
def test_credentials_are_sent_but_for_one_probe(faults: str, found: dict[str, str]) -> None:
    with careless_http(split(faults), token=TOKEN) as server:
        report = assessed(server)
    assert about_transport(report) == found
    others = [asked.headers.get("authorization") for asked in server.asked if asked.path == "/mcp"]
    assert [other for other in others if other != f"Bearer {TOKEN}"] == [None, "Bearer toolvet-no-such-token"]


def test_credentials_make_an_unchecked_origin_a_note() -> None:
    with careless_http({"any-origin", "any-host"}, token=TOKEN) as server:
        assert about_transport(assessed(server)) == {"http-origin-unchecked": "info"}


def test_probes_are_few_and_harmless_and_stay_at_the_path() -> None:
    with careless_http(modern=True, token=TOKEN) as server:
        report = assessed(server, exclude=("*",))
    probes = server.asked
    assert report.transport is not None
    assert report.transport.requests <= MOST_REQUESTS
    (card,) = [asked for asked in probes if asked.path != "/mcp"]
    assert (card.verb, card.path) == ("GET", "/.well-known/mcp/server-card.json")
    assert "authorization" not in card.headers
    methods = {message["method"] for asked in probes for message in messages_in(asked.body) if "method" in message}
    # The session of the assessment lists the tools and asks for one that does not exist.
    assert methods - METHODS == {"tools/list", "tools/call"}
    calls = [
        message for asked in probes for message in messages_in(asked.body) if message.get("method") == "tools/call"
    ]
    assert [call["params"]["name"] for call in calls] == ["toolvet_no_such_tool"]


def test_a_server_card_is_compared_with_the_server() -> None:
    with careless_http({"old-card"}) as server:
        (found,) = [found for found in assessed(server).findings if found.id == "server-card-differs"]
    assert found.message.startswith("The card says version 0.0.1, and the server ")


def messages_in(body: bytes) -> list[dict[str, Any]]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return message if isinstance(message, list) else [message]


def test_neither_the_token_nor_a_session_id_is_in_the_report() -> None:
    with careless_http({"any-session", "trace"}, token=TOKEN) as server:
        report = msgspec.json.encode(assessed(server)).decode()
        sessions = {asked.headers["mcp-session-id"] for asked in server.asked if "mcp-session-id" in asked.headers}
    assert TOKEN not in report
    assert sessions
    assert not any(
        session in report for session in sessions if session.isalnum() and session != "7f2c41d09b5e4a6f8d13c0a7e95b2d46"
    )


def test_sessions_that_were_opened_are_ended() -> None:
    with careless_http() as server:
        assessed(server)
        assert server.sessions == set()


def test_two_runs_tell_the_same() -> None:
    def told(report: Report) -> list[object]:
        assert report.transport is not None
        return [report.transport.probes, report.findings]

    with careless_http({"any-origin", "any-host", "session-400", "batches"}) as server:
        first, second = (told(assessed(server)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("options", [{"transport_checks": False}, {"plan_only": True}], ids=str)
def test_probes_are_left_out_where_they_are_not_wanted(options: dict[str, bool]) -> None:
    with careless_http({"any-origin", "any-host"}) as server:
        report = assessed(server, **options)
        assert (report.transport, about_transport(report)) == (None, {})
        assert not any("origin" in asked.headers for asked in server.asked)


def test_a_server_that_does_not_answer_is_asked_twice_and_no_more() -> None:
    with careless_http({"deaf"}) as server:
        report = asyncio.run(assess(HttpTarget(server.url), Options(timeout=2)))
    assert report.incomplete is None
    assert report.transport is not None
    assert report.transport.not_probed == "2 probes brought no response"
    assert [probe.id for probe in report.transport.probes if probe.as_wanted is None] == ["broken-json", "no-message"]
    assert about_transport(report) == {}


def test_a_server_with_one_session_is_not_probed_and_keeps_it() -> None:
    with careless_http({"one-session", "any-origin", "any-host"}) as server:
        report = assessed(server)
    assert report.transport is not None
    assert report.transport.not_probed == "the server refused a correct request"
    assert (about_transport(report), report.score) == ({}, 100.0)


def test_the_deadline_ends_the_probes_too() -> None:
    with careless_http({"deaf"}) as server:
        report = asyncio.run(assess(HttpTarget(server.url), Options(timeout=20, deadline=3)))
    assert report.incomplete == "the deadline of 3 s passed"


def test_the_table_of_probes_is_whole() -> None:
    table = probe_table()
    assert len({probe.id for probe in table}) == len(table) < MOST_REQUESTS
    assert all(probe.sent and probe.wanted for probe in table)
    assert all(probe.verb == "POST" or not probe.message for probe in table)

"""The sessions of HTTP: their ids, and requests with ids that are not known."""

from collections.abc import Iterator, Sequence
from typing import Final

from toolvet.assess.rules.quote import describe, exchange_of
from toolvet.assess.rules.rule import of_server
from toolvet.core.tool_rules import UNJUDGED, ObservedServer, place_in_report
from toolvet.findings import Card, Finding, Severity

# Source: 2025-03-26 to 2025-11-25, session management 1: MUST.
HTTP_SESSION_ID_ILLEGAL = Card(
    id="http-session-id-illegal",
    title="A session id has characters that a header cannot carry",
    severity=Severity.ERROR,
    looks_for="A header Mcp-Session-Id with a character other than visible ASCII (0x21 to 0x7E).",
    why="Clients cannot send it back as it is, and lose the session.",
    remedy="Use letters, digits and dashes, as in a UUID.",
)


@of_server(HTTP_SESSION_ID_ILLEGAL)
def check_http_session_id_illegal(server: ObservedServer) -> Iterator[Finding]:
    """Report it once, whichever session it was."""
    if server.anomalies_of("bad_session_id") or (server.http is not None and server.http.is_session_illegal):
        yield HTTP_SESSION_ID_ILLEGAL.finding(
            message="The server issued a session id that is not visible ASCII.",
            pointer=place_in_report("initialize"),
        )


# Source: 2025-03-26 to 2025-11-25, session management 1: SHOULD be secure and unique.
HTTP_SESSION_ID_GUESSABLE = Card(
    id="http-session-id-guessable",
    title="Session ids can be guessed",
    severity=Severity.WARNING,
    looks_for=(
        "The ids of three sessions opened one after the other: the same id twice, ids of fewer than 10 "
        "characters, or ids that differ in fewer than 6 characters, such as a counter or a time."
    ),
    why="An attacker who guesses the id of a session can send requests in it.",
    remedy="Take the id from a cryptographic source: `crypto.randomUUID()`, `secrets.token_urlsafe()`.",
)
_FEWEST_SESSIONS: Final = 3
_SHORTEST_ID: Final = 10
_MOST_ALIKE: Final = 6


@of_server(HTTP_SESSION_ID_GUESSABLE)
def check_http_session_id_guessable(server: ObservedServer) -> Iterator[Finding]:
    """Compare the ids; the ids themselves are not quoted, because they are secrets."""
    ids: Sequence[str] = server.http.session_ids if server.http is not None else ()
    if len(ids) < _FEWEST_SESSIONS:
        return
    flaw, longest = "", max(map(len, ids))
    # The places that are not the same in all ids: one in "session-1041", "session-1042", "session-1043".
    varying = longest - sum(len(set(places)) == 1 for places in zip(*ids, strict=False))
    if len(set(ids)) < len(ids):
        flaw = "Two sessions have the same id."
    elif longest < _SHORTEST_ID:
        flaw = f"The session ids have only {longest} characters."
    elif varying < _MOST_ALIKE:
        flaw = f"The session ids differ in {varying} of {longest} characters only, like a counter or a time."
    if flaw:
        yield HTTP_SESSION_ID_GUESSABLE.finding(
            message=flaw, evidence=f"{len(ids)} sessions", pointer=place_in_report("initialize")
        )


# Source: 2025-03-26 to 2025-11-25, session management 3: MUST.
HTTP_SESSION_STATUS = Card(
    id="http-session-status",
    title="An unknown session is not answered with 404",
    severity=Severity.ERROR,
    looks_for=(
        "The status of a refused request whose session id is not known or was ended: the protocol says MUST be "
        "404. It is a warning where the code comes from the TypeScript SDK's examples. A request without an id "
        "that is refused with another status than 400 is reported as info (SHOULD)."
    ),
    why=(
        "At 404 a client opens a new session by itself. At any other status it reports an error, so each restart "
        "of the server breaks all its clients."
    ),
    remedy="Answer 404 where a session id was sent and is not known, and 400 where none was sent.",
)


@of_server(HTTP_SESSION_STATUS)
def check_http_session_status(server: ObservedServer) -> Iterator[Finding]:
    """One finding for ended and unknown sessions, one for requests without a session id."""
    http = server.http
    if http is None or not http.session_ids:
        return
    deleted = http.find("delete-session")
    for probe in ("ended-session", "unknown-session"):
        exchange = http.find(probe)
        if probe == "ended-session" and (deleted is None or not deleted.is_success):
            continue
        if exchange is None or not exchange.is_refused or exchange.status in {404, *UNJUDGED}:
            continue
        words = "that DELETE had ended" if probe == "ended-session" else "that the server never issued"
        yield HTTP_SESSION_STATUS.finding(
            message=f"A session id {words} was refused with HTTP {exchange.status} instead of 404.",
            severity=Severity.WARNING if http.sdk == "typescript" else None,
            evidence=describe(exchange),
            pointer=place_in_report("unknown-session"),
        )
        break
    missing = http.find("no-session")
    if missing is not None and missing.is_refused and missing.status not in {400, *UNJUDGED}:
        yield HTTP_SESSION_STATUS.finding(
            message=f"A request without a session id was refused with HTTP {missing.status} instead of 400.",
            severity=Severity.INFO,
            evidence=describe(missing),
            pointer=place_in_report(missing.probe),
        )


# Source: 2025-03-26 to 2025-11-25, session management 3: MUST, 404.
HTTP_SESSION_UNCHECKED = Card(
    id="http-session-unchecked",
    title="Session ids are not checked",
    severity=Severity.ERROR,
    looks_for=(
        "A server that issues session ids, but carries out a request with the id of a session that DELETE has "
        "ended. The same with an id that the server never issued is a warning."
    ),
    why="A client whose session ended never learns it, and continues with state that is not its own.",
    remedy="Look the id up, and answer 404 if it is not known. A server without state should not issue ids.",
)


@of_server(HTTP_SESSION_UNCHECKED)
def check_http_session_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """The graver of both; an ended session counts only where DELETE was accepted."""
    http = server.http
    if http is None or not http.session_ids:
        return
    deleted, ended = http.find("delete-session"), http.find("ended-session")
    if deleted is not None and deleted.is_success and ended is not None and ended.is_served:
        yield HTTP_SESSION_UNCHECKED.finding(
            message="A request in a session that DELETE had ended was carried out.",
            evidence=f"DELETE was answered with {describe(deleted)}, then a request with {describe(ended)}",
            pointer=place_in_report(ended.probe),
        )
        return
    unknown = http.find("unknown-session")
    if unknown is not None and unknown.is_served:
        yield HTTP_SESSION_UNCHECKED.finding(
            message="A request with a session id that the server never issued was carried out.",
            severity=Severity.WARNING,
            evidence=describe(unknown),
            pointer=place_in_report(unknown.probe),
        )


# Source: 2025-03-26 to 2025-11-25, session management 5: MAY 405.
HTTP_DELETE_STATUS = Card(
    id="http-delete-status",
    title="DELETE of a session is answered with an odd status",
    severity=Severity.WARNING,
    looks_for="The status of DELETE with the id of an open session: neither a success nor 405.",
    why="Clients end their sessions with DELETE, and report an error at any refusal but 405.",
    remedy="End the session and answer 200 or 204, or answer 405 where clients may not end it.",
)


@of_server(HTTP_DELETE_STATUS)
def check_http_delete_status(server: ObservedServer) -> Iterator[Finding]:
    """Report a refusal; other failures than 501 are reported by `http-request-crash`."""
    deleted = exchange_of(server, "delete-session")
    if deleted is None or deleted.status in {405, *UNJUDGED}:
        return
    if deleted.is_refused or deleted.status == 501:
        yield HTTP_DELETE_STATUS.finding(
            message=f"DELETE of an open session was answered with HTTP {deleted.status} instead of 405.",
            evidence=describe(deleted),
            pointer=place_in_report(deleted.probe),
        )

"""How single HTTP requests are answered: status, type and body."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from toolvet.assess.rules.quote import describe, exchange_of, exchanges_of, quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.checks import LeakKind, check_result
from toolvet.core.tool_rules import UNJUDGED, ObservedServer, place_in_report
from toolvet.findings import Card, Finding, Severity

# Source: All revisions, sending messages 5: MUST.
HTTP_ANSWER_TYPE = Card(
    id="http-answer-type",
    title="An answer has the wrong content type",
    severity=Severity.ERROR,
    looks_for=(
        "The Content-Type of responses that hold a JSON-RPC result: it must be application/json or text/event-stream."
    ),
    why="Clients choose by the type how they read the body, and refuse any other.",
    remedy="Set Content-Type: application/json for a single answer, text/event-stream for a stream.",
)
_ANSWER_TYPES: Final = frozenset({"application/json", "text/event-stream"})


@of_server(HTTP_ANSWER_TYPE)
def check_http_answer_type(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all responses."""
    exchanges = exchanges_of(server)
    wrong = [one for one in exchanges if one.is_served and one.media_type not in _ANSWER_TYPES]
    if wrong:
        yield HTTP_ANSWER_TYPE.finding(
            message=f"A result came as {quote(wrong[0].media_type, 60) or 'a body without a content type'}.",
            evidence=f"the answer to {wrong[0].sent or wrong[0].probe}",
            pointer=place_in_report(wrong[0].probe),
        )


# Source: All revisions, sending messages 4: MUST.
HTTP_NOTIFICATION_STATUS = Card(
    id="http-notification-status",
    title="A notification is not answered with an empty 202",
    severity=Severity.WARNING,
    looks_for=(
        "The answer to notifications/initialized: a refusal is an error, another success than 202, or a body, a "
        "warning."
    ),
    why="Clients that keep to the protocol read any other answer as a fault, and a refusal ends their handshake.",
    remedy="Answer notifications with 202 and no body.",
)


@of_server(HTTP_NOTIFICATION_STATUS)
def check_http_notification_status(server: ObservedServer) -> Iterator[Finding]:
    """Judge the status, then the body."""
    told = exchange_of(server, "initialized")
    if told is None or told.status is None or told.status in UNJUDGED:
        return
    place = place_in_report(told.probe)
    if told.is_success and (told.status != 202 or told.body.strip()):
        with_body = " and a body" if told.body.strip() else ""
        yield HTTP_NOTIFICATION_STATUS.finding(
            message=f"A notification was answered with HTTP {told.status}{with_body} instead of 202 without a body.",
            evidence=describe(told),
            pointer=place,
        )
    elif not told.is_success and told.is_refused:
        yield HTTP_NOTIFICATION_STATUS.finding(
            message=f"The notification that ends the handshake was refused with HTTP {told.status}.",
            severity=Severity.ERROR,
            evidence=describe(told),
            pointer=place,
        )


# Source: 2025-03-26 to 2025-11-25: MUST; 2026-07-28: SHOULD be 405.
HTTP_GET_ANSWER = Card(
    id="http-get-answer",
    title="GET is answered with neither an event stream nor 405",
    severity=Severity.WARNING,
    looks_for=(
        "The answer to GET with Accept: text/event-stream. A success of another type is an error, another refusal "
        "than 405 a warning; on a server that speaks 2026-07-28 only it is reported as info."
    ),
    why=(
        "A client opens this stream for messages from the server, or to find an older transport; what it cannot "
        "read it reports as an error, again and again."
    ),
    remedy="Answer GET with an event stream, or with 405.",
)


@of_server(HTTP_GET_ANSWER)
def check_http_get_answer(server: ObservedServer) -> Iterator[Finding]:
    """Judge the head of the response; that none came in time is not judged."""
    http = server.http
    got = http.find("get-stream") if http is not None else None
    if http is None or got is None or got.status is None or got.status in {405, *UNJUDGED}:
        return
    place = place_in_report(got.probe)
    if got.is_success and got.media_type != "text/event-stream":
        yield HTTP_GET_ANSWER.finding(
            message=f"GET for an event stream was answered with {got.media_type or 'no content type'}.",
            severity=Severity.ERROR if http.legacy else Severity.INFO,
            evidence=f"HTTP {got.status}",
            pointer=place,
        )
    elif got.is_refused or got.status == 501:
        yield HTTP_GET_ANSWER.finding(
            message=f"GET for an event stream was refused with HTTP {got.status} instead of 405.",
            severity=None if http.legacy else Severity.INFO,
            evidence=f"HTTP {got.status}",
            pointer=place,
        )


# Source: All revisions, sending messages 4: MUST be an error status.
HTTP_BROKEN_JSON_ACCEPTED = Card(
    id="http-broken-json-accepted",
    title="An invalid body is answered with a success",
    severity=Severity.ERROR,
    looks_for=(
        "The answer to a POST whose body is cut off JSON, or JSON of another protocol: a success without an error. A "
        "JSON-RPC error under a status 2xx is reported as info; 400 with or without error -32700 is right."
    ),
    why="The sender believes that its message arrived.",
    remedy='Answer 400, with JSON-RPC error -32700 and `"id": null` in the body.',
)
_BROKEN_BODIES: Final = {"broken-json": "A body that is not JSON", "no-message": "JSON that is not a JSON-RPC message"}


@of_server(HTTP_BROKEN_JSON_ACCEPTED)
def check_http_broken_json_accepted(server: ObservedServer) -> Iterator[Finding]:
    """One finding, for the graver of the two probes. A failure is reported by `http-request-crash`."""
    if server.http is None:
        return
    sent = [server.http.find(probe) for probe in _BROKEN_BODIES]
    accepted = [one for one in sent if one is not None and one.is_success]
    for exchange in sorted(accepted, key=lambda one: one.code is not None)[:1]:
        told = exchange.code is not None
        yield HTTP_BROKEN_JSON_ACCEPTED.finding(
            message=f"{_BROKEN_BODIES[exchange.probe]} was answered with HTTP {exchange.status}"
            + (f" and error {exchange.code}, instead of 400." if told else " and no error."),
            severity=Severity.INFO if told else None,
            evidence=describe(exchange),
            pointer=place_in_report(exchange.probe),
        )


# Source: Removed in 2025-06-18; since then the body MUST be a single message.
HTTP_BATCH_ANSWERED = Card(
    id="http-batch-answered",
    title="Batches are answered, though the revision has none",
    severity=Severity.INFO,
    looks_for=(
        "Two requests in an array, sent in a revision that has no batches (2025-06-18 and later), and carried "
        "out. The TypeScript SDK does so by itself."
    ),
    why=(
        "The revision forbids senders to use them. A program between client and server may not look into arrays, so "
        "its checks of single messages miss what is inside."
    ),
    remedy="Answer arrays with 400, or check each message in them as if it came alone.",
)


@of_server(HTTP_BATCH_ANSWERED)
def check_http_batch_answered(server: ObservedServer) -> Iterator[Finding]:
    """Report it once."""
    batch = exchange_of(server, "batch")
    if batch is not None and batch.is_served:
        yield HTTP_BATCH_ANSWERED.finding(
            message="Two requests in one array were carried out.",
            evidence=describe(batch),
            pointer=place_in_report(batch.probe),
        )


# Source: RFC 9110, 15.5 and 15.6: whose fault a status names.
HTTP_REQUEST_CRASH = Card(
    id="http-request-crash",
    title="An odd request crashes the server's HTTP layer",
    severity=Severity.ERROR,
    looks_for=(
        "Probes that were answered with a status 500 to 599, or whose connection was closed without a response. "
        "Statuses of gateways and limits (501 to 504) are not counted. A 500 that a known SDK words as a JSON-RPC "
        "error is reported as info."
    ),
    why=(
        "A fault of the client is reported as one of the server: the client tries again instead of correcting its "
        "request, and any stranger can fill the logs."
    ),
    remedy="Read the request in a guarded place, and answer 400 where it cannot be read.",
)
_OF_GATEWAYS: Final = frozenset({501, 502, 503, 504})
_MOST_SHOWN: Final = 4


@of_server(HTTP_REQUEST_CRASH)
def check_http_request_crash(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such probes. Silence within the time limit is not judged: the network may be to blame."""
    exchanges = exchanges_of(server)
    crashed = [
        one
        for one in exchanges
        if (one.status is None and one.failure and not one.failure.startswith("no answer within"))
        or (one.status is not None and one.status >= 500 and one.status not in _OF_GATEWAYS)
    ]
    if crashed:
        first = crashed[0]
        more = f" (and {len(crashed) - 1} more)" if len(crashed) > 1 else ""
        # An SDK that words its own failure as a JSON-RPC error is not the author's to change.
        by_sdk = bool(server.http is not None and server.http.sdk) and all(one.code is not None for one in crashed)
        yield HTTP_REQUEST_CRASH.finding(
            severity=Severity.INFO if by_sdk else None,
            message=f"The answer to {first.sent or first.probe} was {describe(first)}{more}.",
            evidence="; ".join(f"{one.probe}: {describe(one)}" for one in crashed[:_MOST_SHOWN]),
            pointer=place_in_report(first.probe),
        )


# Source: OWASP, improper error handling; RFC 9110, 10.2.4 on what Server may reveal.
HTTP_ERROR_LEAK = Card(
    id="http-error-leak",
    title="An HTTP error shows a stack trace",
    severity=Severity.WARNING,
    looks_for=(
        "A stack trace in the body of a refused or failed request. The error page of Express in development, and "
        "a path in the headers Server or X-Powered-By, are reported as info."
    ),
    why="It shows an attacker how the server is built and its install path.",
    remedy=(
        "Log the trace on the server, and answer with a sentence. Express: set NODE_ENV=production, or add an "
        "error handler."
    ),
)
_TAG: Final = re.compile(r"<[^<>]{1,200}>")
# In a header, where neither versions (nginx/1.25.3) nor comments (Apache (Unix)) are paths.
_PATH: Final = re.compile(r"(?<![\w/])/(?:home|usr|opt|var|srv|root|Users)/[\w.-]|[A-Za-z]:\\[\w.-]")


@of_server(HTTP_ERROR_LEAK)
def check_http_error_leak(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all bodies, one for the headers."""
    exchanges = exchanges_of(server)
    for exchange in exchanges:
        if exchange.is_success:
            continue
        # HTML is read as the text that it shows.
        text = unescape(_TAG.sub("\n", exchange.body)) if "<" in exchange.body else exchange.body
        result = {"content": [{"type": "text", "text": text}], "isError": True}
        leaks = check_result({"name": "http", "inputSchema": {}}, {}, result).leaks
        trace = "\n".join(leak.text for leak in leaks if leak.kind is LeakKind.STACK_TRACE)
        if trace:
            # The page that Express shows in development, as the TypeScript SDK's own app does.
            is_express = exchange.media_type == "text/html" and exchange.headers.get("x-powered-by") == "Express"
            yield HTTP_ERROR_LEAK.finding(
                message=f"The answer to {exchange.sent or exchange.probe} shows a stack trace.",
                severity=Severity.INFO if is_express else None,
                evidence=quote(trace, 300),
                pointer=place_in_report(exchange.probe),
            )
            break
    for exchange in exchanges:
        named = [name for name in ("server", "x-powered-by") if _PATH.search(exchange.headers.get(name, ""))]
        if named:
            yield HTTP_ERROR_LEAK.finding(
                message=f"The header {named[0].title()} names a path of the server's machine.",
                severity=Severity.INFO,
                evidence=quote(exchange.headers[named[0]], 120),
                pointer=place_in_report(f"headers/{named[0]}"),
            )
            break

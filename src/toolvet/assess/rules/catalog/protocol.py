"""Messages that JSON-RPC or the protocol does not allow, and requests without a right answer."""

from collections.abc import Iterator, Sequence

from toolvet.assess.rules.ending import Ending, ending, words_of
from toolvet.assess.rules.item import ObservedRequest, Purpose
from toolvet.assess.rules.quote import quote, quote_each, show, show_answer
from toolvet.assess.rules.rule import of_request, of_server
from toolvet.core.tool_rules import ObservedServer, Outcome
from toolvet.findings import Card, Finding, Severity

STDOUT_NOISE = Card(
    id="stdout-noise",
    title="Non-protocol output on stdout",
    severity=Severity.WARNING,
    looks_for="Lines on stdout (or events on the stream) that are not JSON-RPC messages.",
    why=(
        "Stdout belongs to the protocol: the specification forbids anything else on it. Some clients log the noise, "
        "some end the connection, and a line without a newline corrupts the message after it."
    ),
    remedy=(
        "Send logs and prints to stderr: `print(..., file=sys.stderr)`, `logging.basicConfig(stream=sys.stderr)`, "
        "`console.error` instead of `console.log`. Look for libraries and child processes that print; give child "
        "processes a stdout of their own."
    ),
)


@of_server(STDOUT_NOISE)
def check_stdout_noise(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all of it, with the first lines quoted."""
    found = server.anomalies_of("noise")
    return _report(
        STDOUT_NOISE,
        found,
        "The server printed a line to stdout that is not a JSON-RPC message.",
        "lines on stdout are not JSON-RPC messages.",
    )


OPENING_HALF_CHARACTER = Card(
    id="opening-half-character",
    title="Lone surrogate in the answer to initialize",
    severity=Severity.ERROR,
    looks_for=(
        "An answer to `initialize` or `server/discover` whose texts contain one half of a surrogate pair (`\\ud800`) "
        "without the other."
    ),
    why=(
        "UTF-8 cannot hold half a pair, so strict JSON parsers refuse the whole message (RFC 8259, section 8.2): such "
        "a client opens no session, and none of the tools can be used."
    ),
    remedy=(
        "Cut texts between characters, not inside them: in JavaScript with `Array.from(text)` or "
        "`text.toWellFormed()`, in Python by decoding bytes only when they are complete."
    ),
)


@of_server(OPENING_HALF_CHARACTER)
def check_opening_half_character(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("half_character")
    if found:
        yield OPENING_HALF_CHARACTER.finding(
            message="The answer that opens the session contains half of a surrogate pair, which is not a character.",
            evidence=quote_each(found),
        )


DUPLICATE_ANSWER = Card(
    id="duplicate-answer",
    title="A request was answered twice",
    severity=Severity.WARNING,
    looks_for="A second response with the id of a request that was already answered.",
    why=(
        "Clients drop the second answer, or take it for the answer to something else; either way one of the two is "
        "lost."
    ),
    remedy=(
        "Answer each request once. Look for a handler that sends a response itself and returns one as well, or for "
        "an error path that runs on after it answered."
    ),
)


@of_server(DUPLICATE_ANSWER)
def check_duplicate_answer(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("duplicate_answer")
    return _report(DUPLICATE_ANSWER, found, "A request was answered twice.", "requests were answered twice.")


UNKNOWN_ID_ANSWER = Card(
    id="unknown-id-answer",
    title="Response with an unknown id",
    severity=Severity.WARNING,
    looks_for="A response whose id belongs to no request of toolvet, or an error without an id.",
    why=(
        "The client does not know which request was answered: it drops the message, and waits for the real answer "
        "until it times out."
    ),
    remedy='Send the id of the request back unchanged, with its JSON type: `1` is not `"1"`.',
)


@of_server(UNKNOWN_ID_ANSWER)
def check_unknown_id_answer(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("unknown_id", "null_id")
    return _report(
        UNKNOWN_ID_ANSWER,
        found,
        "An answer names a request that was never made.",
        "answers name requests that were never made.",
    )


UNEXPECTED_REQUEST = Card(
    id="unexpected-request",
    title="The server sends a request the client does not support",
    severity=Severity.WARNING,
    looks_for=(
        "A request from the server (sampling, elicitation, roots) although the client announced no such capability; "
        "from protocol 2026-07-28 on, any request."
    ),
    why=(
        "Clients without the capability answer with an error or not at all, and the tool that waits for it fails or "
        "hangs."
    ),
    remedy=(
        "Look at the client's capabilities first (FastMCP: `ctx.session.check_client_capability`), and do without, "
        "or answer with an error that says what is needed. From 2026-07-28 on, return an `input_required` result "
        "instead."
    ),
)


@of_server(UNEXPECTED_REQUEST)
def check_unexpected_request(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such requests."""
    found = server.anomalies_of("unexpected_request")
    return _report(
        UNEXPECTED_REQUEST,
        found,
        "The server sent a request that nothing we announced allows.",
        "requests came that nothing we announced allows.",
    )


UNKNOWN_TOOL_ANSWER = Card(
    id="unknown-tool-answer",
    title="An unknown tool is not answered with a protocol error",
    severity=Severity.WARNING,
    looks_for=(
        "The answer to a call of a tool that does not exist. The protocol demands the JSON-RPC error -32602. A "
        "result with isError (as the TypeScript SDK sends) or another code is reported as info, a success as an "
        "error."
    ),
    why=(
        "To a client an unknown tool means that its list is out of date. A success, or a text that reads like one, "
        "hides that from client and model."
    ),
    remedy=(
        "Answer tools/call with JSON-RPC error -32602 and the name that was asked for. The SDKs do it when tools "
        "are registered with them; a low-level `call_tool` handler must end with `raise` for names that it does not "
        "know, before it looks at the arguments."
    ),
    is_of_sdk=True,
)


@of_server(UNKNOWN_TOOL_ANSWER)
def check_unknown_tool_answer(server: ObservedServer) -> Iterator[Finding]:
    """Judge the answer by how well a client sees that the tool does not exist."""
    call = server.unknown_tool
    if call is None:
        return
    asked = f"A call of the tool '{quote(call.tool.name, 60)}', which does not exist,"
    words = quote(words_of(call), 140)
    match ending(call):
        case Ending.SUCCESS | Ending.UNFLAGGED_ERROR | Ending.UNFINISHED if call.outcome is Outcome.RESULT:
            yield UNKNOWN_TOOL_ANSWER.finding(
                message=f'{asked} was answered with a success: "{words}"',
                severity=Severity.ERROR,
                evidence=show_answer(call.result, 200),
            )
        case Ending.REFUSAL | Ending.FAILURE | Ending.WORDLESS:
            yield UNKNOWN_TOOL_ANSWER.finding(
                message=f'{asked} was answered with a result (isError) instead of error -32602: "{words}"',
                severity=Severity.INFO,
                evidence=words,
            )
        case Ending.TIMEOUT | Ending.DIED | Ending.MALFORMED as ended:
            problem = {"timeout": "was not answered", "died": "ended the server"}.get(
                ended.value, "was not answered with a legal message"
            )
            severity = Severity.ERROR if ended is Ending.DIED else None
            yield UNKNOWN_TOOL_ANSWER.finding(
                message=f"{asked} {problem}.",
                severity=severity,
                evidence=quote(call.detail, 200),
            )
        case _ if call.error is not None and call.error.code != -32602:
            yield UNKNOWN_TOOL_ANSWER.finding(
                message=f"{asked} was answered with error {call.error.code} instead of -32602.",
                severity=Severity.INFO,
                evidence=f"error {call.error.code}: {words}",
            )
        case _:
            return


REQUEST_UNANSWERED = Card(
    id="request-unanswered",
    title="A request about resources or prompts gets no answer",
    severity=Severity.ERROR,
    looks_for=(
        "A resources/read, prompts/get or completion/complete, right or wrong, to which no answer came in time, that "
        "ended the server, or whose answer is not a JSON-RPC response."
    ),
    why="Clients wait, and a server that ended takes every other request with it.",
    remedy="Answer every request, the wrong ones with a JSON-RPC error; set limits to what a handler waits for.",
)


@of_request(REQUEST_UNANSWERED)
def check_request_unanswered(request: ObservedRequest) -> Iterator[Finding]:
    """Report an outcome without an answer, unless an outage explains it."""
    if request.outage_nearby:
        return
    wrong = "" if request.is_valid or request.purpose is Purpose.COMPLETION else " (wrong on purpose)"
    what = f"{request.method} with {show(request.params, 100)}{wrong}"
    match request.outcome:
        case Outcome.TIMEOUT:
            also = f"; {quote(request.detail, 80)}" if request.detail else ""
            yield REQUEST_UNANSWERED.finding(
                message=f"{what}: no answer within {request.duration_ms / 1000:.1f} s{also}."
            )
        case Outcome.SERVER_DIED:
            yield REQUEST_UNANSWERED.finding(message=f"{what} ended the server.", evidence=quote(request.detail, 300))
        case Outcome.INVALID_MESSAGE:
            yield REQUEST_UNANSWERED.finding(
                message=f"{what}: the answer is not a JSON-RPC response.", evidence=quote(request.detail, 300)
            )
        case _:
            return


def _report(card: Card, found: Sequence[str], one: str, several: str) -> Iterator[Finding]:
    if found:
        message = one if len(found) == 1 else f"{len(found)} {several}"
        yield card.finding(message=message, evidence=quote_each(found))

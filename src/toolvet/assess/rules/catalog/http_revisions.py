"""The revision and the other metadata that HTTP headers and bodies name."""

from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.quote import describe, exchange_of
from toolvet.assess.rules.rule import of_server
from toolvet.core.json_value import members, names
from toolvet.core.tool_rules import UNJUDGED, HttpExchange, ObservedServer, place_in_report
from toolvet.findings import Card, Finding, Severity

# Source: 2025-06-18 and 2025-11-25, protocol version header: MUST, 400.
HTTP_VERSION_UNCHECKED = Card(
    id="http-version-unchecked",
    title="An unknown protocol version in the header is not refused",
    severity=Severity.WARNING,
    looks_for=(
        "A request whose MCP-Protocol-Version is a revision that does not exist, or no revision at all, and which "
        "is carried out. The protocol says MUST: answer 400. Clients that keep to the protocol never send one, so "
        "it is a warning."
    ),
    why="A client of a later revision believes that it was understood, and finds out by answers that it cannot read.",
    remedy="Compare the header with the revisions that the server speaks, and answer 400 to any other.",
)
_FIRST_WITH_HEADER: Final = "2025-06-18"
_UNKNOWN_VERSIONS: Final = {"unknown-version": "1900-01-01", "illegal-version": "latest"}


@of_server(HTTP_VERSION_UNCHECKED)
def check_http_version_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """One finding for both probes. Revisions before 2025-06-18 have no such header."""
    http = server.http
    if http is None or http.revision < _FIRST_WITH_HEADER:
        return
    served = [probe for probe in ("unknown-version", "illegal-version") if http.is_served(probe)]
    if served:
        values = " and ".join(_UNKNOWN_VERSIONS[probe] for probe in served)
        yield HTTP_VERSION_UNCHECKED.finding(
            message=f"A request with MCP-Protocol-Version {values} was carried out.",
            evidence="; ".join(describe(exchange) for exchange in map(http.find, served) if exchange is not None),
            pointer=place_in_report(served[0]),
        )


# Source: 2025-06-18 and 2025-11-25, protocol version header: SHOULD.
HTTP_VERSION_DEMANDED = Card(
    id="http-version-demanded",
    title="Requests without MCP-Protocol-Version are refused",
    severity=Severity.WARNING,
    looks_for=(
        "A request of a session that lacks the header and is refused. The protocol says SHOULD: assume "
        "2025-03-26, or what the session agreed on."
    ),
    why="Clients of 2025-03-26 do not know the header, and cannot use the server.",
    remedy="Treat a missing header as the revision of the session, or as 2025-03-26.",
)


@of_server(HTTP_VERSION_DEMANDED)
def check_http_version_demanded(server: ObservedServer) -> Iterator[Finding]:
    """Report a refusal; a failure is reported by `http-request-crash`."""
    missing = exchange_of(server, "no-version")
    if missing is not None and missing.is_refused and missing.status not in UNJUDGED:
        yield HTTP_VERSION_DEMANDED.finding(
            message="A request without MCP-Protocol-Version was refused.",
            evidence=describe(missing),
            pointer=place_in_report(missing.probe),
        )


# Source: 2026-07-28, protocol version header: MUST, 400 and the list.
HTTP_VERSION_ERROR = Card(
    id="http-version-error",
    title="An unknown revision is not answered with those that are known",
    severity=Severity.WARNING,
    looks_for=(
        "A request of a revision that does not exist, in header and body: the protocol says MUST answer 400 with "
        "error -32022 and the supported revisions. Carried out, it is an error."
    ),
    why="A client chooses the revision by this answer. Without it, it falls back to the oldest one, or gives up.",
    remedy='Answer 400 with error -32022 and `data: {"supported": […], "requested": …}`.',
)


@of_server(HTTP_VERSION_ERROR)
def check_http_version_error(server: ObservedServer) -> Iterator[Finding]:
    """Judge status, code and data, in this order."""
    future = exchange_of(server, "future-version")
    if future is None or future.status is None or future.status in UNJUDGED:
        return
    problem, severity = "", None
    if future.is_served:
        problem, severity = "was carried out", Severity.ERROR
    elif not future.is_refused:
        return
    elif future.status != 400 or future.code != -32022:
        problem = "was not refused with 400 and error -32022"
    elif not names(members(future.data).get("supported")):
        problem = "was refused without the list of supported revisions"
    if problem:
        yield HTTP_VERSION_ERROR.finding(
            message=f"A request of the revision 2099-01-01 {problem}.",
            severity=severity,
            evidence=describe(future),
            pointer=place_in_report(future.probe),
        )


# Source: 2026-07-28, Streamable HTTP, server validation: MUST, -32020.
HTTP_HEADER_MISMATCH = Card(
    id="http-header-mismatch",
    title="Headers that contradict the body are not refused",
    severity=Severity.ERROR,
    looks_for=(
        "Requests of 2026-07-28 without Mcp-Method or MCP-Protocol-Version, or with values other than in the "
        "body. Carried out, they are an error; refused with another status than 400 or another code than -32020, "
        "a warning."
    ),
    why="Gateways route and limit by the headers, the server acts by the body: a contradiction bypasses the gateway.",
    remedy=(
        "Compare MCP-Protocol-Version, Mcp-Method and Mcp-Name with the body, and answer 400 with error -32020 "
        "(HeaderMismatch)."
    ),
)
_MISMATCHES: Final = {
    "no-method": "A request without Mcp-Method",
    "other-method": "A request whose Mcp-Method names another method",
    "other-version": "A request whose MCP-Protocol-Version names another revision",
    "no-modern-version": "A request without MCP-Protocol-Version",
}


@of_server(HTTP_HEADER_MISMATCH)
def check_http_header_mismatch(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all probes, by the worst of them."""
    http = server.http
    if http is None:
        return
    sent = [one for one in map(http.find, _MISMATCHES) if one is not None and one.status not in UNJUDGED]
    served = [one for one in sent if one.is_served]
    odd: list[HttpExchange] = []
    for one in sent:
        # Another revision in the header may also be an unknown one.
        codes = {-32020, -32022} if one.probe == "other-version" else {-32020}
        if one.is_refused and (one.status != 400 or one.code not in codes):
            odd.append(one)
    for found, severity, words in ((served, None, "was carried out"), (odd, Severity.WARNING, "was refused otherwise")):
        if found:
            yield HTTP_HEADER_MISMATCH.finding(
                message=f"{_MISMATCHES[found[0].probe]} {words}; 400 with error -32020 is right.",
                severity=severity,
                evidence="; ".join(f"{one.probe}: {describe(one)}" for one in found),
                pointer=place_in_report(found[0].probe),
            )
            return


# Source: 2026-07-28, basic, request metadata: MUST, 400 and -32602.
HTTP_METADATA_UNCHECKED = Card(
    id="http-metadata-unchecked",
    title="A request without its required metadata is not refused",
    severity=Severity.WARNING,
    looks_for=(
        "A request of 2026-07-28 whose _meta lacks io.modelcontextprotocol/clientCapabilities: the protocol says "
        "MUST answer 400 with error -32602. Carried out, it is a warning; refused otherwise, information."
    ),
    why="A faulty client gets no error, and the server guesses what it supports.",
    remedy="Answer 400 with error -32602 where protocolVersion or clientCapabilities are missing in _meta.",
)


@of_server(HTTP_METADATA_UNCHECKED)
def check_http_metadata_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """Judge whether it was carried out, then status and code."""
    bare = exchange_of(server, "no-capabilities")
    if bare is None or bare.status in UNJUDGED:
        return
    is_right = bare.status == 400 and bare.code == -32602
    if bare.is_served or (bare.is_refused and not is_right):
        yield HTTP_METADATA_UNCHECKED.finding(
            message="A request without the client's capabilities was carried out."
            if bare.is_served
            else "A request without the client's capabilities was not refused with 400 and error -32602.",
            severity=None if bare.is_served else Severity.INFO,
            evidence=describe(bare),
            pointer=place_in_report(bare.probe),
        )


# Source: 2026-07-28, protocol version header: MUST.
HTTP_METHOD_STATUS = Card(
    id="http-method-status",
    title="An unknown method is not answered with 404",
    severity=Severity.WARNING,
    looks_for=(
        "The answer to ping, which 2026-07-28 does not have: 404 with JSON-RPC error -32601 is right. If ping is "
        "carried out, that is reported as info."
    ),
    why="By the status and the code together a client tells a method that is missing from a server that is not there.",
    remedy="Answer methods that the server does not know with 404 and error -32601.",
)


@of_server(HTTP_METHOD_STATUS)
def check_http_method_status(server: ObservedServer) -> Iterator[Finding]:
    """Judge status and code together."""
    removed = exchange_of(server, "removed-method")
    if removed is None or removed.status in UNJUDGED:
        return
    is_right = removed.status == 404 and removed.code == -32601
    if removed.is_served or (removed.is_refused and not is_right):
        yield HTTP_METHOD_STATUS.finding(
            message="`ping`, which 2026-07-28 does not have, was carried out."
            if removed.is_served
            else "`ping`, which 2026-07-28 does not have, was not refused with 404 and error -32601.",
            severity=Severity.INFO if removed.is_served else None,
            evidence=describe(removed),
            pointer=place_in_report(removed.probe),
        )

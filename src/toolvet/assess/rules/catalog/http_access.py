"""Which HTTP requests a server lets in: from web pages, for other hosts, without credentials."""

from collections.abc import Iterator

from toolvet.assess.rules.quote import describe, exchange_of, protection_setting, quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.tool_rules import FOREIGN_ORIGIN, ObservedHttp, ObservedServer, place_in_report
from toolvet.findings import Card, Finding, Severity

# Source: 2025-06-18 to 2026-07-28, Streamable HTTP, security: MUST, 403.
HTTP_ORIGIN_UNCHECKED = Card(
    id="http-origin-unchecked",
    title="Requests from foreign web sites are carried out",
    severity=Severity.ERROR,
    looks_for=(
        "A request whose Origin is another web site, and which is carried out instead of refused with 403. An "
        "error where a page can then reach a server on this machine or in a private network (it passes with a "
        "foreign Host too, as after DNS rebinding; or CORS or text/plain let it through); a warning where the "
        "server's SDK has a setting for it; information where Host is checked, where credentials are needed, and "
        "on public hosts."
    ),
    why=(
        "Any page that a user opens can then call the tools of a server on the user's own machine, with the "
        "user's rights. The protocol says MUST: validate Origin, and answer 403."
    ),
    remedy=(
        "Refuse requests whose Origin header is there and is not one of yours with 403, and requests whose Host "
        "is not yours with 421 or 403."
    ),
)


@of_server(HTTP_ORIGIN_UNCHECKED)
def check_http_origin_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """Judge by what a web page can do: with a rebound name, across sites, or not at all."""
    http = server.http
    foreign = http.find("foreign-origin") if http is not None else None
    if http is None or foreign is None:
        return
    if foreign.is_served:
        severity, message = _judge_foreign(http)
        yield HTTP_ORIGIN_UNCHECKED.finding(
            message=message,
            severity=severity,
            remedy=protection_setting(http),
            evidence=f"Origin: {FOREIGN_ORIGIN} was answered with {describe(foreign)}",
            pointer=place_in_report(foreign.probe),
        )
        return
    null = http.find("null-origin")
    if null is not None and null.is_served and foreign.is_refused and not http.is_guarded:
        yield HTTP_ORIGIN_UNCHECKED.finding(
            message="Requests with `Origin: null` are carried out; any page can send that from a sandboxed frame.",
            severity=Severity.WARNING if http.is_served("foreign-host") else Severity.INFO,
            evidence=f"Origin: null was answered with {describe(null)}",
            pointer=place_in_report(null.probe),
        )


def _judge_foreign(http: ObservedHttp) -> tuple[Severity, str]:
    if not http.is_local:
        return Severity.INFO, "Requests from any web site are carried out (Origin is not checked)."
    if http.is_guarded:
        return Severity.INFO, "Origin is not checked; only the credentials keep web pages out."
    worst = Severity.WARNING if protection_setting(http) is not None else Severity.ERROR
    if http.is_open_to_pages:
        return worst, "Any web page that the user opens can send requests to this server (Origin is not checked)."
    if http.is_served("rebound"):
        return worst, "A web page can reach this server by DNS rebinding: neither Origin nor Host is checked."
    rebound = http.find("rebound")
    if rebound is None or not rebound.is_refused:
        return Severity.INFO, "Origin is not checked; whether Host is checked was not seen."
    return Severity.INFO, "Origin is not checked; that Host is checked keeps rebound web pages out."


# Source: Both SDKs check it on loopback; a second wall beside Origin, which MCP demands.
HTTP_HOST_UNCHECKED = Card(
    id="http-host-unchecked",
    title="A local server answers under any host name",
    severity=Severity.INFO,
    looks_for=(
        "On a server of this machine or a private network that checks Origin: a request whose Host is a foreign "
        "name, and which is carried out."
    ),
    why=(
        "After DNS rebinding a browser sends the attacker's name as Host. Some requests, such as GET, then carry "
        "no Origin."
    ),
    remedy=(
        "Accept only the names under which the server is meant to be reached, such as 127.0.0.1 and localhost, "
        "and answer others with 421 or 403."
    ),
)


@of_server(HTTP_HOST_UNCHECKED)
def check_http_host_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """Report it only if Origin is checked; otherwise `http-origin-unchecked` covers both."""
    http = server.http
    foreign = http.find("foreign-host") if http is not None else None
    origin = http.find("foreign-origin") if http is not None else None
    if http is None or foreign is None or origin is None or http.is_guarded or not http.is_local:
        return
    if foreign.is_served and origin.is_refused:
        yield HTTP_HOST_UNCHECKED.finding(
            message="A request for a foreign host name was carried out; only the check of Origin keeps web pages out.",
            remedy=protection_setting(http),
            evidence=f"Host: attacker.example was answered with {describe(foreign)}",
            pointer=place_in_report(foreign.probe),
        )


# Source: A client in the browser would be one.
HTTP_OWN_ORIGIN_REFUSED = Card(
    id="http-own-origin-refused",
    title="A page of the server itself may not use it",
    severity=Severity.INFO,
    looks_for="A request whose Origin is that of the server's own URL, and which is refused with 403.",
    why=("A client that is served as a page from the same host cannot connect. Without such a page it does no harm."),
    remedy="Add the server's own origin to those that it accepts, if a page should use it.",
)


@of_server(HTTP_OWN_ORIGIN_REFUSED)
def check_http_own_origin_refused(server: ObservedServer) -> Iterator[Finding]:
    """Report it once."""
    own = exchange_of(server, "own-origin")
    if own is not None and own.status == 403:
        yield HTTP_OWN_ORIGIN_REFUSED.finding(
            message="A request whose Origin is the server's own was refused.",
            evidence=describe(own),
            pointer=place_in_report(own.probe),
        )


# Source: Fetch standard: no preflight for it.
HTTP_CONTENT_TYPE_UNCHECKED = Card(
    id="http-content-type-unchecked",
    title="Content-Type is not checked",
    severity=Severity.WARNING,
    looks_for=(
        "A request sent as text/plain and carried out, on a server that does not check Origin. On a public host "
        "it is reported as info."
    ),
    why=(
        "Before a page of another site sends JSON, the browser asks the server. For text/plain it does not ask, "
        "so any page can make calls, if blindly."
    ),
    remedy="Answer a POST whose Content-Type is not application/json with 415.",
)


@of_server(HTTP_CONTENT_TYPE_UNCHECKED)
def check_http_content_type_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """Report it where it opens a way for web pages."""
    http = server.http
    plain = http.find("text-plain") if http is not None else None
    if http is None or plain is None or not plain.is_served or not http.is_served("foreign-origin"):
        return
    yield HTTP_CONTENT_TYPE_UNCHECKED.finding(
        message="A request sent as text/plain was carried out, which web pages can send without being allowed to.",
        severity=None if http.is_local and not http.is_guarded else Severity.INFO,
        evidence=f"Content-Type: text/plain was answered with {describe(plain)}",
        pointer=place_in_report(plain.probe),
    )


# Source: Fetch standard, CORS protocol and credentials.
HTTP_CORS_CREDENTIALS = Card(
    id="http-cors-credentials",
    title="CORS lets any web site use the user's credentials",
    severity=Severity.WARNING,
    looks_for=(
        "Access-Control-Allow-Credentials: true together with a foreign origin in Access-Control-Allow-Origin. "
        "Browsers refuse the combination with `*`, so that is reported as info."
    ),
    why="Any page can then send requests with the cookies of its visitor, and read the answers.",
    remedy="Name the origins that may use the server, or leave Access-Control-Allow-Credentials out.",
)


@of_server(HTTP_CORS_CREDENTIALS)
def check_http_cors_credentials(server: ObservedServer) -> Iterator[Finding]:
    """One finding, from the preflight or from the request itself."""
    if server.http is None:
        return
    for probe in ("preflight", "foreign-origin"):
        exchange = server.http.find(probe)
        if exchange is None:
            continue
        headers = exchange.headers
        allowed = headers.get("access-control-allow-origin", "")
        with_credentials = headers.get("access-control-allow-credentials", "").strip().lower() == "true"
        if with_credentials and allowed in {"*", FOREIGN_ORIGIN}:
            any_site = allowed == "*"
            yield HTTP_CORS_CREDENTIALS.finding(
                message="CORS allows credentials for every origin, which browsers refuse: the header has no effect."
                if any_site
                else "CORS allows any web site to send requests with credentials: the server repeats its origin.",
                severity=Severity.INFO if any_site else None,
                evidence=f"Access-Control-Allow-Origin: {quote(allowed, 80)}; Access-Control-Allow-Credentials: true",
                pointer=place_in_report(probe),
            )
            return


# Source: RFC 9110, 11.6.1: MUST; RFC 9728, 5.1; MCP authorization.
HTTP_CHALLENGE_MISSING = Card(
    id="http-challenge-missing",
    title="401 without WWW-Authenticate",
    severity=Severity.ERROR,
    looks_for=(
        "The answer to a request without the credentials that the user gave: 401 without WWW-Authenticate. A 403 "
        "in its place is a warning; a challenge without resource_metadata is information, because clients also "
        "look at the well-known address."
    ),
    why="By this header clients find out how to log in. Without it users must find out by themselves.",
    remedy=(
        'Send `WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/oauth-protected-resource"` with '
        "each 401."
    ),
)


@of_server(HTTP_CHALLENGE_MISSING)
def check_http_challenge_missing(server: ObservedServer) -> Iterator[Finding]:
    """Judge the refusal; that a request without credentials is served is not judged."""
    bare = exchange_of(server, "no-credentials")
    if bare is None or bare.status not in {401, 403}:
        return
    challenge, place = bare.headers.get("www-authenticate", ""), place_in_report(bare.probe)
    if bare.status == 403:
        yield HTTP_CHALLENGE_MISSING.finding(
            message="A request without credentials was refused with 403 instead of 401.",
            severity=Severity.WARNING,
            evidence=describe(bare),
            pointer=place,
        )
    elif not challenge.strip():
        yield HTTP_CHALLENGE_MISSING.finding(
            message="The 401 for a request without credentials has no WWW-Authenticate header.",
            evidence=describe(bare),
            pointer=place,
        )
    elif "bearer" in challenge.lower() and "resource_metadata" not in challenge.lower():
        yield HTTP_CHALLENGE_MISSING.finding(
            message="WWW-Authenticate names no resource_metadata.",
            severity=Severity.INFO,
            evidence=quote(challenge, 160),
            pointer=place,
        )


# Source: 2025-06-18 to 2026-07-28, authorization, token handling: MUST validate, 401.
HTTP_CREDENTIALS_UNCHECKED = Card(
    id="http-credentials-unchecked",
    title="Any token is accepted",
    severity=Severity.ERROR,
    looks_for=("A server that refuses requests without credentials, but carries out one with a made-up bearer token."),
    why="Anyone who sends any token at all gets in.",
    remedy=(
        "Verify each token: its signature or its entry, its expiry, and that it was issued for this server. "
        "Answer 401 otherwise."
    ),
)


@of_server(HTTP_CREDENTIALS_UNCHECKED)
def check_http_credentials_unchecked(server: ObservedServer) -> Iterator[Finding]:
    """Report it only where credentials are needed at all."""
    http = server.http
    wrong = http.find("wrong-credentials") if http is not None else None
    if http is not None and http.is_guarded and wrong is not None and wrong.is_served:
        yield HTTP_CREDENTIALS_UNCHECKED.finding(
            message="A request with a made-up token was carried out.",
            evidence=describe(wrong),
            pointer=place_in_report(wrong.probe),
        )


# Source: RFC 6750, 5.3: tokens MUST go over TLS; MCP authorization, security.
HTTP_UNENCRYPTED = Card(
    id="http-unencrypted",
    title="A public server is reached without encryption",
    severity=Severity.INFO,
    looks_for=(
        "An http: URL whose host is neither this machine nor in a private network. An error where credentials "
        "were sent to it."
    ),
    why="Everyone on the way reads what is asked and answered, and takes the credentials.",
    remedy="Serve over https, and give that URL.",
)


@of_server(HTTP_UNENCRYPTED)
def check_http_unencrypted(server: ObservedServer) -> Iterator[Finding]:
    """Judge the URL alone."""
    http = server.http
    if http is None or http.is_encrypted or http.place != "public":
        return
    yield HTTP_UNENCRYPTED.finding(
        message="Credentials were sent over http: to a public host."
        if http.has_credentials
        else "The URL is http: and its host is public.",
        severity=Severity.ERROR if http.has_credentials else None,
        pointer=place_in_report("url"),
    )

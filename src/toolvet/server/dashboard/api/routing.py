"""Endpoints → routes: reads and checks the request, asks for the role, runs the endpoint, and answers in JSON."""

import asyncio
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from toolvet.core.decodable import decodable
from toolvet.core.envelope import (
    forbidden_error,
    unauthorized_error,
    unavailable_error,
    validation_error,
)
from toolvet.errors import StoreError
from toolvet.server.access.gate import FORM_HEADER, Gate, address_of
from toolvet.server.access.guard import note_refusal
from toolvet.server.access.role import Person, Role
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.api.endpoint import ApiRequest, Endpoint, Nothing
from toolvet.server.failures import ApiError, failure, json_response, refusal

# A larger body is checked in a thread, so that the others do not wait for it.
_QUICK: Final = 64 * 1024
# A body of the greatest length comes in this time at two megabits a second.
BODY_SECONDS: Final = 60.0
_POINTER: Final = re.compile(r" - at (?:`key` in )?`\$(?P<place>[^`]*)`")
_UNKNOWN: Final = re.compile(r"unknown field `(?P<name>[^`]*)`|missing required field `(?P<missing>[^`]*)`")


K = TypeVar("K")


def routes(endpoints: Iterable[Endpoint[Any]], site: ServerContext, gate: Gate) -> list[Route]:
    """Return the routes of these endpoints; those of one path become one route, so that a wrong method gets 405."""
    by_path: dict[str, dict[str, Endpoint[Any]]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [
        Route(path, _handler(by_method, site, gate), methods=sorted(by_method)) for path, by_method in by_path.items()
    ]


def _handler(by_method: Mapping[str, Endpoint[Any]], site: ServerContext, gate: Gate) -> Any:
    async def handle(request: Request) -> Response:
        endpoint = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            return await _answer(endpoint, request, site, gate)
        except ApiError as error:
            if error.status == 403 or (error.status == 401 and "authorization" in request.headers):
                who = getattr(request.state, "who", "")
                await note_refusal(site, request, error.envelope.error or "", who=who)
            if endpoint.refused is not None:
                return endpoint.refused(error)
            return failure(error.status, error.envelope, error.headers)
        except StoreError as error:
            return store_failure(error)

    return handle


def store_failure(error: StoreError) -> Response:
    """Return the response where the store cannot be reached. The log has the reason, which may name files and hosts."""
    sys.stderr.write(f"toolvet: {error}\n")
    return failure(503, unavailable_error("the store cannot be reached; nothing was kept"), {"retry-after": "5"})


async def _answer(endpoint: Endpoint[Any], request: Request, site: ServerContext, gate: Gate) -> Response:
    caller = gate.caller(request, endpoint.keys)
    request.state.who = caller.person.name if caller.person is not None else ""
    gate.slow_down(request, caller)
    person = allowed(caller.person, endpoint.role)
    if endpoint.method != "GET":
        gate.check_form(caller, request.headers.get(FORM_HEADER, ""))
    raw = b""
    if endpoint.has_body:
        raw = await read_body(request, site.most_body, is_untyped=endpoint.is_untyped)
        body = decode_body(raw, endpoint.takes)
    else:
        sent = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
        if endpoint.takes is Nothing and endpoint.method == "POST" and sent:
            # A field that would be ignored, such as the name of another reviewer, is refused.
            decode_body(await read_body(request, site.most_body, is_untyped=True) or b"{}", Nothing)
        query = request.query_params
        twice = next((name for name in query if len(query.getlist(name)) > 1), None)
        if twice is not None:
            raise ApiError(422, validation_error(f"{twice} is given more than once", field=_named_field(twice)))
        try:
            # A query has only strings: numbers and booleans are read from them.
            body = msgspec.convert(dict(query), decodable(endpoint.takes), strict=False)
        except msgspec.ValidationError as error:
            raise _wrong(error) from error
    variables = {name: f"{value}" for name, value in request.path_params.items()}
    asked = ApiRequest(body, variables, person, site, address_of(request), request.headers)
    is_long = len(raw) > _QUICK or (endpoint.is_long is not None and endpoint.is_long(body))
    if endpoint.waits or is_long:
        reply = await run_in_threadpool(endpoint.run, asked)
    else:
        reply = endpoint.run(asked)
    if isinstance(reply, Response):
        return reply
    if endpoint.status == 204:
        return Response(status_code=204)
    return json_response(reply, endpoint.status)


def allowed(person: Person | None, role: Role) -> Person:
    """Return the person, who has this role. Raises ApiError with 401 without a person, with 403 for too low a role."""
    if person is None:
        raise ApiError(
            401, unauthorized_error("this needs a token, as Authorization: Bearer"), {"www-authenticate": "Bearer"}
        )
    if not person.may(role):
        raise ApiError(403, forbidden_error(f"this needs the role {role.word}; {person.name} is {person.role.word}"))
    return person


async def read_body(request: Request, most: int, *, is_untyped: bool = False) -> bytes:
    """Return the body of a request that says it is JSON. Raises ApiError for another type and for one too long.

    `is_untyped` also takes one that says nothing.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (is_untyped and not kind):
        raise refusal(415, "the body must be JSON: Content-Type: application/json")
    check_coding(request)
    too_long = refusal(413, f"the body is longer than {most:,} bytes")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise too_long
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_long
                parts.append(part)
    except ClientDisconnect:
        raise refusal(400, "the body ended too early") from None
    except TimeoutError:
        slow = f"the body took longer than {BODY_SECONDS:.0f} seconds"
        raise refusal(408, slow, {"connection": "close"}) from None
    return b"".join(parts)


def check_coding(request: Request) -> None:
    """Raise ApiError with 415 for a compressed body: a small one could become one without an end."""
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"identity", ""}:
        raise refusal(415, "the body must not be compressed", {"accept-encoding": "identity"})


def decode_body(raw: bytes, kind: type[Any]) -> Any:
    """Return a body as its type. Raises ApiError: 400 if it is not JSON, 422 with the field that is wrong."""
    try:
        return msgspec.json.decode(raw, type=decodable(kind))
    except msgspec.ValidationError as error:
        raise _wrong(error) from error
    except RecursionError as error:
        raise refusal(400, "the body is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise refusal(400, f"the body is not JSON: {error}") from error


def convert(value: object, kind: type[K], *, below: str = "") -> K:
    """Return a decoded value as this type. Raises ApiError: 422 with the field that is wrong.

    `below` is the member of the body that the value is.
    """
    try:
        return msgspec.convert(value, decodable(kind))
    except msgspec.ValidationError as error:
        raise _wrong(error, below) from error


def _wrong(error: msgspec.ValidationError, below: str = "") -> ApiError:
    words = f"{error}"
    place = _POINTER.search(words)
    path = (below + (place["place"] if place else "")).lstrip(".")
    named = _UNKNOWN.search(words)
    if named is not None:
        name = named["name"] if named["name"] is not None else named["missing"]
        path = f"{path}.{name}" if path else name
    message = _POINTER.sub("", words)
    return ApiError(422, validation_error(f"{path}: {message}" if path else message, field=_named_field(path)))


def _named_field(path: str) -> str | None:
    # An envelope names no field that is blank, and a caller may send even that.
    return path if path.strip() and path.isprintable() else None

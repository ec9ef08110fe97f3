"""The OpenAPI document of the API, made from its endpoints."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, cast

import msgspec

from toolvet.server.dashboard.api.endpoint import Endpoint, Nothing
from toolvet.version import __version__

_VARIABLE: Final = re.compile(r"{(\w+)(?::\w+)?}")
_COMMON: Final = (401, 403, 422, 429)
_BODY: Final = (400, 408, 413, 415)
_WORDS: Final[Mapping[int, str]] = {
    400: "The request cannot be read.",
    401: "A token or a login is needed.",
    403: "The role is too low, or the request comes from a foreign host or page.",
    408: "The body took too long to arrive.",
    404: "There is no such thing.",
    409: "It was changed in the meantime.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    422: "A field is wrong; `data.details` names it.",
    429: "Too many requests; `Retry-After` says when to come back.",
    503: "The store cannot be reached.",
}


class FailureReply(msgspec.Struct, frozen=True, kw_only=True):
    """response-v2, the envelope of this project's errors. `data.error_code` and `data.error_type` say what it is."""

    success: Literal[False]
    data: dict[str, Any]
    error: str
    meta: dict[str, Any]


def document(endpoints: Iterable[Endpoint[Any]]) -> dict[str, object]:
    """Return the OpenAPI 3.1 document of these endpoints."""
    known = tuple(endpoints)
    types: tuple[object, ...] = tuple(
        {type_: None for each in known for type_ in (each.takes, each.reply)} | {FailureReply: None}
    )
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    _say_open(schemas)
    _say_open(components)
    by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, object]] = {}
    for each in known:
        path = _VARIABLE.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _operation(each, by_type, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolvet",
            "version": __version__,
            "description": "Vet every tool call: arguments, results, envelopes, answers; the store; the review queue.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": dict(components),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _say_open(schema: object) -> None:
    """State that an object of any members is one: generators of types read one without a word as an empty object."""
    if isinstance(schema, dict):
        held = cast("dict[str, object]", schema)
        if held.get("type") == "object" and held.keys().isdisjoint(("properties", "additionalProperties")):
            held["additionalProperties"] = True
        for each in held.values():
            _say_open(each)
    elif isinstance(schema, list | tuple):
        for each in cast("Iterable[object]", schema):
            _say_open(each)


def _operation(
    each: Endpoint[Any], by_type: Mapping[object, Mapping[str, Any]], components: Mapping[str, Any]
) -> dict[str, object]:
    words = [word for word in _VARIABLE.sub("one", each.path).split("/") if word]
    operation: dict[str, object] = {
        "operationId": "_".join([each.method.lower(), *words]),
        "summary": each.summary,
        "tags": [each.path.split("/")[2] if each.path.startswith("/v1/") else "service"],
    }
    parameters: list[object] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _VARIABLE.findall(each.path)
    ]
    if each.has_body:
        example = {} if each.example is None else {"example": each.example}
        content = {"application/json": {"schema": by_type[each.takes], **example}}
        operation["requestBody"] = {"required": True, "content": content}
    elif each.takes is not Nothing:
        query = components[each.takes.__name__]
        required = query.get("required", ())
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": form}
            for name, form in query["properties"].items()
        ]
    if parameters:
        operation["parameters"] = parameters
    stores = (503,) if each.waits else ()
    failures = sorted({*_COMMON, *(_BODY if each.has_body else ()), *stores, *each.failures})
    done: dict[str, object] = {"description": "Done."}
    if each.status != 204:
        done["content"] = {"application/json": {"schema": by_type[each.reply]}}
    empty = {"204": {"description": "There is nothing to say."}} if each.may_be_empty else {}
    operation["responses"] = {
        str(each.status): done,
        **empty,
        **{
            str(status): {
                "description": _WORDS[status],
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/FailureReply"}}},
            }
            for status in failures
        },
    }
    return operation

"""Envelopes: what builders make is without fault, the check is total, translations come back."""

import inspect
import json

from fuzz.draw import Draw
from fuzz.holds import holds
from fuzz.options import ERROR, FIT, SUCCESS

import toolvet
from toolvet import Envelope, EnvelopeError, Severity, check_envelope, error_response, fit_response, success_response
from toolvet.core.envelope import (
    envelope_schema,
    from_jsonapi,
    from_problem_details,
    from_rpc_status,
    request_id,
    response_contract,
    retrieve_content,
    to_jsonapi,
    to_problem_details,
    to_rpc_status,
)
from toolvet.core.schema import compiled

BUILDERS = tuple(
    sorted(
        (name, getattr(toolvet, name))
        for name in toolvet.__all__
        if name.endswith("_error") and name != "is_business_logic_error"
    )
)
SCHEMA = compiled(envelope_schema())
FORMATS = ((to_jsonapi, from_jsonapi), (to_problem_details, from_problem_details), (to_rpc_status, from_rpc_status))


def check(draw: Draw) -> None:
    """One of four: a foreign value, a response that is built, one that is shortened, one that is translated."""
    match draw.byte() % 4:
        case 0:
            _foreign(draw)
        case 1:
            response = build(draw)
            if response is not None:
                _sound(response)
        case 2:
            _fit(draw)
        case _:
            _translate(draw)


def build(draw: Draw) -> Envelope | None:
    """Return a response that one of the builders made, None where it refused its arguments."""
    chosen = draw.byte() % (len(BUILDERS) + 4)
    try:
        if chosen < 2:
            with request_id("r-1"):
                return success_response(draw.members() if draw.flag() else draw.value(), **draw.options(SUCCESS))
        if chosen < 4:
            return error_response(draw.text(), **_of(draw, error_response))
        _, builder = BUILDERS[chosen - 4]
        needed = [
            draw.number() if "seconds" in each.name or each.name == "limit" else draw.text()
            for each in inspect.signature(builder).parameters.values()
            if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
        ]
        return builder(*needed, **_of(draw, builder))
    except EnvelopeError:
        return None


def _of(draw: Draw, builder: object) -> dict[str, object]:
    parameters = inspect.signature(builder).parameters  # type: ignore[arg-type]
    table = {name: ERROR[name] for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}
    return draw.options(table)


def _sound(response: Envelope) -> None:
    document = response.to_dict("v2")
    wrong = [each for each in check_envelope(response) if each.severity is Severity.ERROR]
    holds(not wrong, f"a builder made an envelope with a fault: {wrong[:1]}")
    holds(json.loads(response.to_json("v2")) == json.loads(json.dumps(document)), "to_json differs from to_dict")
    holds(SCHEMA.is_valid(json.loads(response.to_json("v2"))), "an envelope breaks its schema")
    with response_contract("v1"):
        json.dumps(response.to_dict())


def _foreign(draw: Draw) -> None:
    value = draw.value()
    parts = {"success": draw.flag(), "data": draw.json(), "meta": value, "error": draw.json()}
    for each in (value, parts, {**parts, "meta": draw.members(), "data": draw.members()}):
        found = check_envelope(each)
        holds(found == check_envelope(each), "another finding")


def _fit(draw: Draw) -> None:
    items = [{"id": draw.byte(), "a": draw.text(), "b": draw.json(2)} for _ in range(draw.byte() % 6)]
    data = {"a": items * (draw.byte() % 4), "b": draw.json(2)}
    budget, options = draw.byte() * (draw.byte() % 16), draw.options(FIT)
    try:
        given = data if draw.byte() < 200 else build(draw) or data
        fitted = fit_response(given, budget, **options)
    except EnvelopeError:
        return
    counter = options.get("counter", "characters")
    text = fitted.to_json("v2")
    size = len(text.encode()) if counter == "bytes" else len(text)
    holds(size <= budget, "a response is over its budget")
    holds(not any(each.severity is Severity.ERROR for each in check_envelope(fitted)), "it has a fault")
    archive = options.get("archive")
    for content_hash in fitted.meta.get("content_archive_hashes", {}).values() if archive is not None else ():
        page = retrieve_content(
            archive,
            content_hash,
            **draw.options(
                {
                    "ids": lambda draw: draw.words(),
                    "offset": lambda draw: draw.byte() % 4,
                    "limit": lambda draw: draw.byte() % 4,
                    "budget": lambda draw: draw.byte() * 4,
                }
            ),
        )
        json.dumps(page.to_dict())
    if archive is not None:
        retrieve_content(archive, draw.text()).to_dict()


def _translate(draw: Draw) -> None:
    to_format, from_format = draw.one(FORMATS)
    if draw.flag():
        response = build(draw)
        if response is None or response.success:
            return
        document = to_format(response)
        back = from_format(json.loads(json.dumps(document)))
        holds(not back.success, "a failure comes back as a success")
        holds(back.error == response.error, "a failure comes back with other words")
        _sound(back)
        return
    value = draw.members() if draw.flag() else draw.value()
    for function in (to_format, from_format):
        try:
            function(value)
        except EnvelopeError:
            continue

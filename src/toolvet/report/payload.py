"""A JSON value as text that a person reads."""

import json

import orjson

from toolvet.report.visible import shortened, visible


def pretty(value: object, limit: int) -> str:
    """Indented JSON, cut after `limit` characters. Total: a value that is no JSON is shown by its `repr`."""
    return shortened(visible(_indented(value)), limit)


def compact(value: object, limit: int) -> str:
    """JSON on one line, cut after `limit` characters. Total, as `pretty` is."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        text = _slowly(value, indent=None)
    return shortened(visible(text), limit)


def _indented(value: object) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return _slowly(value, indent=2)


def _slowly(value: object, indent: int | None) -> str:
    """What orjson refuses: integers beyond 64 bits, lone surrogates, keys that are no strings, 255 levels and more."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=repr)
    except (TypeError, ValueError, RecursionError):
        return "(a value that cannot be shown as JSON)"

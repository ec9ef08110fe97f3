"""JSON values of a server, made safe to look at, as `visible` does it for texts."""

import json

import orjson

from toolvet.core.visible import shorten, visible


def pretty(value: object, limit: int) -> str:
    """Indented JSON, cut after `limit` characters. Total: a value that is not JSON is shown by its `repr`."""
    return shorten(visible(_indent(value)), limit)


def compact(value: object, limit: int) -> str:
    """JSON on one line, cut after `limit` characters. Total, like `pretty`."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        text = _encode_slowly(value, indent=None)
    return shorten(visible(text), limit)


def _indent(value: object) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return _encode_slowly(value, indent=2)


def _encode_slowly(value: object, indent: int | None) -> str:
    """JSON of what orjson refuses: large integers, lone surrogates, other keys than strings, 255 levels and more."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=repr)
    except (TypeError, ValueError, RecursionError):
        return "(a value that cannot be shown as JSON)"

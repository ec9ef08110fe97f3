"""Encodes JSON-RPC messages: one line each, without the line end.

All functions raise ValueError or TypeError for values that JSON cannot express.
"""

import json

import orjson

from toolvet.mcp.wire.message import Id


def encode_request(id_: Id, method: str, params: object = None) -> bytes:
    """Encode a request. `params` is left out when None.

    >>> encode_request(1, "ping")
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    """
    message: dict[str, object] = {"jsonrpc": "2.0", "id": id_, "method": method}
    return _encode_with_params(message, params)


def encode_notification(method: str, params: object = None) -> bytes:
    """Encode a notification. `params` is left out when None."""
    return _encode_with_params({"jsonrpc": "2.0", "method": method}, params)


def encode_result(id_: Id, result: object) -> bytes:
    """Encode a successful answer to request `id_`."""
    return _dump({"jsonrpc": "2.0", "id": id_, "result": result})


def encode_error(id_: Id | None, code: int, message: str, data: object = None) -> bytes:
    """Encode an error. `id_` is None when the request's id is not known; `data` is left out when None."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _dump({"jsonrpc": "2.0", "id": id_, "error": error})


def _encode_with_params(message: dict[str, object], params: object) -> bytes:
    if params is not None:
        message["params"] = params
    return _dump(message)


def _dump(message: object) -> bytes:
    try:
        return orjson.dumps(message)
    except orjson.JSONEncodeError:
        # orjson refuses some values that JSON allows: integers over 64 bits, lone surrogates, 255 levels. Edge-case
        # scenarios send just these, so the slow encoder has to write them.
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()

"""JSON-RPC messages as bytes: one line each, without the line end."""

import json

import orjson

from toolvet.wire.message import Id


def encode_request(id_: Id, method: str, params: object = None) -> bytes:
    """A request. `params` is left out when None. Raises ValueError or TypeError for what JSON cannot say."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": id_, "method": method}
    return _encode(message, "params", params)


def encode_notification(method: str, params: object = None) -> bytes:
    """A notification. `params` is left out when None."""
    return _encode({"jsonrpc": "2.0", "method": method}, "params", params)


def encode_result(id_: Id, result: object) -> bytes:
    """A successful answer to request `id_`."""
    return _dump({"jsonrpc": "2.0", "id": id_, "result": result})


def encode_error(id_: Id | None, code: int, message: str, data: object = None) -> bytes:
    """An error. `data` is left out when None."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _dump({"jsonrpc": "2.0", "id": id_, "error": error})


def _encode(message: dict[str, object], key: str, value: object) -> bytes:
    if value is not None:
        message[key] = value
    return _dump(message)


def _dump(message: object) -> bytes:
    try:
        return orjson.dumps(message)
    except orjson.JSONEncodeError:
        # orjson refuses what JSON allows: integers over 64 bits, lone surrogates, 255 levels. Edge-case scenarios
        # send just these, so the slow encoder must carry them.
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()

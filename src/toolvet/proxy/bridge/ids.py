"""Ids for requests of many clients on one pipe: their ids and progress tokens become numbers of the proxy, and back.

For example, two clients both send a request with id 1 and progress token "a". The server gets

    {"id": 7, "method": "tools/call", "params": {…, "_meta": {"progressToken": 7}}}
    {"id": 8, "method": "tools/call", "params": {…, "_meta": {"progressToken": 8}}}

and its `{"id": 8, "result": …}` goes to the second client with id 1, its progress for 8 with the token "a". Only these
members are replaced; everything else of a message stays byte for byte.
"""

from typing import Final

import msgspec

from toolvet.core.meta import MCP_META_PREFIX
from toolvet.mcp.wire import Id, Notification, Request, encode_members, encode_raw, split_member, split_members

_SUBSCRIPTION: Final = f"{MCP_META_PREFIX}subscriptionId"


def renumber_request(request: Request, number: int) -> tuple[bytes, msgspec.Raw | None]:
    """Replace id and progress token by `number`. Returns the message and the client's token, None if it has none."""
    message = split_members(request.raw)
    message["id"] = encode_raw(number)
    token: msgspec.Raw | None = None
    if request.body is not None and bytes(request.body).lstrip().startswith(b"{"):
        params = split_member(message, "params")
        meta = split_member(params, "_meta")
        if "progressToken" in meta:
            token = msgspec.Raw(bytes(meta["progressToken"]))
            meta["progressToken"] = encode_raw(number)
            params["_meta"] = encode_raw(meta)
            message["params"] = encode_raw(params)
    return encode_members(message), token


def restore_answer(answer: bytes, id_: Id) -> bytes:
    """Return the answer under the id that the client gave."""
    message = split_members(answer)
    message["id"] = encode_raw(id_)
    if "result" in message and bytes(message["result"]).lstrip().startswith(b"{"):
        _restore_subscription(message, "result", id_)
    return encode_members(message)


def number_of(notification: Notification) -> int | None:
    """Return the number of the request that a notification is about: its progress token, or its subscription."""
    try:
        params = _ADDRESS.decode(notification.body) if notification.body is not None else None
    except msgspec.MsgspecError:
        return None
    if params is None:
        return None
    number = params.progress_token if params.progress_token is not None else params.meta.get(_SUBSCRIPTION)
    if isinstance(number, str) and number.isdigit() and len(number) < 19:
        return int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def restore_notification(notification: bytes, id_: Id, token: msgspec.Raw | None) -> bytes:
    """Return the notification with the client's own token and subscription in it."""
    message = split_members(notification)
    params = split_member(message, "params")
    if "progressToken" in params and token is not None:
        params["progressToken"] = token
        message["params"] = encode_raw(params)
    _restore_subscription(message, "params", id_)
    return encode_members(message)


def _restore_subscription(message: "dict[str, msgspec.Raw]", key: str, id_: Id) -> None:
    holder = split_member(message, key)
    meta = split_member(holder, "_meta")
    if _SUBSCRIPTION in meta:
        # A subscription is named after its request, as a string or as the number it is.
        was_text = bytes(meta[_SUBSCRIPTION]).lstrip().startswith(b'"')
        meta[_SUBSCRIPTION] = encode_raw(str(id_) if was_text else id_)
        holder["_meta"] = encode_raw(meta)
        message[key] = encode_raw(holder)


class _NotificationAddress(msgspec.Struct):
    """The members of `params` that name a request."""

    progress_token: object = msgspec.field(name="progressToken", default=None)
    meta: dict[str, object] = msgspec.field(name="_meta", default_factory=dict[str, object])


_ADDRESS: Final = msgspec.json.Decoder(_NotificationAddress)

"""Requests of many clients on one pipe: their ids and progress tokens → numbers of ours, and back in what comes.

Only what must change is written anew; everything else of a message stays as its author spelled it.
"""

import msgspec

from toolvet.session.splice import closed, member, opened, raw
from toolvet.wire import Id, Notification, Request

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def renumbered(request: Request, number: int) -> tuple[bytes, msgspec.Raw | None]:
    """The request under another id, its progress token replaced by the same number; and the token as it was."""
    message = opened(request.raw)
    message["id"] = raw(number)
    token: msgspec.Raw | None = None
    if request.body is not None and bytes(request.body).lstrip().startswith(b"{"):
        params = member(message, "params")
        meta = member(params, "_meta")
        if "progressToken" in meta:
            token = msgspec.Raw(bytes(meta["progressToken"]))
            meta["progressToken"] = raw(number)
            params["_meta"] = raw(meta)
            message["params"] = raw(params)
    return closed(message), token


def restored(answer: bytes, id_: Id) -> bytes:
    """The answer under the id that the client gave."""
    message = opened(answer)
    message["id"] = raw(id_)
    if "result" in message and bytes(message["result"]).lstrip().startswith(b"{"):
        _resubscribe(message, "result", id_)
    return closed(message)


def number_of(notification: Notification) -> int | None:
    """Which of our numbers a notification speaks of: by its progress token, or by its subscription."""
    try:
        told = _TOLD.decode(notification.body) if notification.body is not None else None
    except msgspec.MsgspecError:
        return None
    if told is None:
        return None
    found = told.progress_token if told.progress_token is not None else told.meta.get(_SUBSCRIPTION)
    if isinstance(found, str) and found.isdigit() and len(found) < 19:
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def renamed(notification: bytes, id_: Id, token: msgspec.Raw | None) -> bytes:
    """The notification with the client's own token and subscription in it."""
    message = opened(notification)
    params = member(message, "params")
    if "progressToken" in params and token is not None:
        params["progressToken"] = token
        message["params"] = raw(params)
    _resubscribe(message, "params", id_)
    return closed(message)


def _resubscribe(message: "dict[str, msgspec.Raw]", key: str, id_: Id) -> None:
    holder = member(message, key)
    meta = member(holder, "_meta")
    if _SUBSCRIPTION in meta:
        # A subscription is named after its request, as a string or as the number it is.
        was_text = bytes(meta[_SUBSCRIPTION]).lstrip().startswith(b'"')
        meta[_SUBSCRIPTION] = raw(str(id_) if was_text else id_)
        holder["_meta"] = raw(meta)
        message[key] = raw(holder)


class _Told(msgspec.Struct):
    progress_token: object = msgspec.field(name="progressToken", default=None)
    meta: dict[str, object] = msgspec.field(name="_meta", default_factory=dict[str, object])


_TOLD = msgspec.json.Decoder(_Told)

"""`ModelMessage`s of pydantic-ai, as objects and as JSON (`kind`, `parts`, `part_kind`)."""

from typing import Final

from toolvet.core.messages.format import MessageFormat, Receiver
from toolvet.core.messages.parts import Parts, blocks_of, text_in

_FAILED: Final = ("failed", "denied", "interrupted", "retried")


def _message(parts: Parts, to: Receiver) -> bool:
    kind = parts["kind"]
    if kind not in ("request", "response") or not isinstance(parts.get("parts"), list | tuple):
        return False
    to.said(parts.get("instructions"), "system")
    blocks = blocks_of(parts["parts"])
    for block in blocks:
        to.within(block, "user" if kind == "request" else "assistant")
    if kind == "response":
        if not blocks:
            to.said("", "assistant")
        to.stopped(parts.get("finish_reason"))
    return True


def _part(parts: Parts, to: Receiver) -> bool:
    kind, content = parts["part_kind"], parts.get("content")
    name, id_ = text_in(parts, "tool_name"), text_in(parts, "tool_call_id")
    if kind in ("text", "user-prompt"):
        for text in [content] if isinstance(content, str) else blocks_of(content):
            to.said(text)
    elif kind == "system-prompt":
        to.said(content, "system")
    elif kind in ("tool-call", "builtin-tool-call"):
        to.called(name, parts.get("args"), id_)
    elif kind in ("tool-return", "builtin-tool-return"):
        # A tool that returns nothing has returned.
        failed = True if parts.get("outcome") in _FAILED else None
        to.returned("" if content is None else content, id_=id_, name=name, failed=failed)
    elif kind == "retry-prompt" and name:
        to.returned(content, id_=id_, name=name, failed=True)
    # Thoughts, files, and requests to try again without a tool are not messages of either side.
    return True


FORMAT = MessageFormat(name="pydantic-ai (kind, part_kind)", members={"kind": _message, "part_kind": _part})

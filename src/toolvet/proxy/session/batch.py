"""A JSON-RPC batch (MCP 2025-03-26 only): its messages are decided one by one and passed on as a batch again."""

from collections.abc import Callable

from toolvet.mcp.wire import split_batch
from toolvet.proxy.session.step import Step, ToClient, ToServer


def decide_batch(
    data: bytes,
    decide: Callable[[bytes], list[Step]],
    onward: type[ToServer] | type[ToClient],
    prefix: str,
) -> list[Step]:
    """Return the steps for a batch. If none of its messages is changed, kept back or answered, it passes as it is.

    The session's own questions and its answers are sent as single messages, not within the batch.

    Args:
        data: The batch.
        decide: Returns the steps for one of its messages.
        onward: The kind of step that goes the way of the batch.
        prefix: Begins the ids of the session's own questions.
    """
    messages = split_batch(data)
    passed: list[bytes] = []
    rest: list[Step] = []
    for message in messages:
        # A batch within a batch is not a message in any revision.
        for step in [onward(message)] if message.startswith(b"[") else decide(message):
            if isinstance(step, onward) and not (isinstance(step.about, str) and step.about.startswith(prefix)):
                passed.append(step.data)
            else:
                rest.append(step)
    if len(passed) == len(messages) and all(new is old for new, old in zip(passed, messages, strict=True)):
        return [onward(data), *rest]
    return [onward(b"[" + b",".join(passed) + b"]"), *rest] if passed else rest

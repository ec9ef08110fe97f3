"""Helpers of the tests of scores: a store with a turn, and the scores sent of it."""

import os
from importlib.util import find_spec
from typing import Any

import pytest

from toolvet import check_answer, check_result
from toolvet.server.scores import Sending, destination, send_scores
from toolvet.server.scores.platform import Score, score_of
from toolvet.store import Store, VerdictFilter

AT = 1_795_357_000.0
TRACE = "0af7651916cd43dd8448eb211c80319c"
TOOL = {"name": "find_book", "inputSchema": {"type": "object"}}
CRASH = {"isError": True, "content": [{"type": "text", "text": "Traceback: KeyError: 'title'"}]}
REFUSAL = "I cannot help with that request."


def need(module: str, words: str) -> None:
    """Skip where an SDK is missing; `make platforms` installs them all, and there it is a failure."""
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        if os.environ.get("TOOLVET_PLATFORMS") == "required":
            pytest.fail(f"{module} is not installed: {words}")
        pytest.skip(words)


def fill(store: Store) -> None:
    """A turn with a result that failed and an answer that refuses, and an answer that belongs to nothing."""
    store.add(check_result(TOOL, {}, CRASH, trace=TRACE), tool="find_book", server="books", at=AT, duration=0.5)
    store.add(check_answer(REFUSAL, trace=TRACE), text=REFUSAL, model="m1", conversation="talk-1", at=AT + 1)
    store.add(check_answer("The museum opens at nine and closes at six."), at=AT + 2)


def sent(store: Store, name: str, **options: Any) -> Sending:
    """Send all there is, and return the last state."""
    return list(send_scores(store, destination(name), **options))[-1]


def ids(store: Store) -> dict[str, Score]:
    return {score.evaluator: score for score in map(score_of, store.verdicts(VerdictFilter(trace=TRACE)))}

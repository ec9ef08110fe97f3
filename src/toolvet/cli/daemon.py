"""python -m toolvet.cli.daemon SOCKET LOCK SECONDS: the daemon, which `toolvet.agents.daemon.client` starts.

It loads what the checks need, and then runs them for all callers (`toolvet.agents.daemon.server`).
"""

import fcntl
import io
import os
import sys
from collections.abc import Callable
from functools import lru_cache, partial

from toolvet.agents.daemon import Daemon
from toolvet.cli import parse, run
from toolvet.cli.plain_words import plain_call
from toolvet.core.discover import modules

# A process parses words that it knows in no time, and a hook says the same ones again and again.
_MOST_WORDS = 256


def main() -> None:
    """Load, and serve; the lock is held as long as this process lives."""
    path, lock, seconds = sys.argv[1:]
    # Of this process alone: a child that outlives it must not hold the lock.
    fcntl.fcntl(int(lock), fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    # No settings are there, and it can be removed only with the socket.
    os.chdir(os.path.dirname(path))  # noqa: PTH120 - a path is a string here
    from toolvet import check_answer, check_result  # noqa: PLC0415 - loaded here, not where this is imported
    from toolvet.core.turn import prepare  # noqa: PLC0415 - as above

    modules("toolvet.cli.commands.check")
    modules("toolvet.agents.hook")
    prepare()
    # Something is judged in each way, so that databases and models are loaded.
    check_answer("I cannot help with that request. However, the lamp costs 12 euros.", calls=[], question="What is it?")
    check_answer("The lamp costs 12 euros.", calls=[{"name": "price", "arguments": {}, "result": "12 EUR"}])
    check_answer("The lamp costs 12 euros.", languages=["en"])
    check_result({"name": "price"}, {}, {"content": [{"type": "text", "text": "Error: not found"}]})
    _known(("check", "answer", "--json"))
    Daemon(path, _parse, _rehearse, idle=float(seconds), held=int(lock)).run()


def _parse(words: list[str]) -> Callable[[], int]:
    return partial(run, words, _known(tuple(words)))


@lru_cache(_MOST_WORDS)
def _known(words: tuple[str, ...]) -> Callable[[], object] | None:
    call = plain_call(list(words))
    if call is not None:
        return call
    try:
        command, bound, _ignored = parse(list(words))
    except (Exception, SystemExit):  # noqa: BLE001 - whatever it is, the command says it where it is run
        return None
    return partial(command, *bound.args, **bound.kwargs)


def _rehearse() -> None:
    """Touch what a call touches: with its own streams, which the call replaces."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"I cannot help with that request."))
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding=sys.stdout.encoding, errors=sys.stdout.errors)
    _parse(["check", "answer", "--json"])()


if __name__ == "__main__":
    main()

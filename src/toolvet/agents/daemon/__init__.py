"""A command's words and input in, its output and exit code out, from a process that has everything loaded.

    TOOLVET_RESIDENT=on toolvet check answer --json < answer.txt     # a hook, many times in a session

Starting Python, reading the phrases and the databases takes a hundred times as long as a verdict, so for hooks a
process of this user stays: the first call starts it and judges by itself, later calls ask it over a socket, and it ends
after some minutes without a call. `client` is what a command runs first, and imports next to nothing; `server` is the
process that stays; `protocol` has its address and the messages between both.

The answer is the same to the byte, because it is the same code: a child that was forked ahead answers each request, and
has the caller's words, working folder, environment and input. So no request sees another's state, and one that crashes
leaves the others alone. Whatever goes wrong, the command judges by itself: it prints nothing before the whole answer is
there, and keeps what it has read of its input.

Only on Linux: elsewhere `client` does nothing, and the answers are the same.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

"""The moments of a tool call, each checked on its own: a value in, a verdict out, pure and total.

    arguments     before the call: the arguments, against the tool's schema
    capability    before the call: what a server announces about validating, and what its validator replies
    result        after the call: the result of the tool
    answer        at the end of the turn: what the assistant says

No check imports another. `toolvet.assess.rules` combines them into findings about a server, and `toolvet.core.turn`
judges an answer by the calls that it rests on.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

"""What people should look at, what they can say, how far they agree: verdicts and labels in, choices and figures out.

No disk and no clock: who has which item before them is kept by `toolvet.store.queue`.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

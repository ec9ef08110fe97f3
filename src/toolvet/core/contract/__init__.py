"""The promises of a server, and whether another version keeps them.

    lock_of(tools=…)                  # the definitions of a server as a document: canonical, sorted, without secrets
    compare_locks(old, new)           # the changes, each compatible, breaking or to be read, with a counter-example

Pure and total: any definitions give changes, in bounded time. No reference is ever fetched.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

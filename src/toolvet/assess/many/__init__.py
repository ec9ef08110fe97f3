"""Many servers, assessed side by side: each by a process of its own, with limits, into a folder that a run goes on in.

    command line ── assess_many ── worker ── server        one worker for each server, several at once
                        │            └────── server        (it is started again where it breaks)
                        ├── watch: memory and output of everything below each worker, its time
                        └── folder: a report for each server, and a journal of what is done

On a cluster (`cluster`, `on_worker`) each machine does this for the servers that it receives; the folder stays here.

A worker is a process because a server that fills the memory, or one that our own code cannot stand, must not take the
others with it. Its limits are those of the worker, the server and all that the server starts, together.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

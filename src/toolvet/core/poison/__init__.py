"""Texts of a server that steer the model: in definitions, results and resources.

    find_steering(text)               # the signals of one text, each with its words and their position
    steering_in(definition)           # those of a tool, resource or prompt: (pointer, signal)

Signs such as an order, a file of secrets or "do not tell the user" are phrases (`languages/<language>/steering.toml`).
One sign proves nothing: `signals.toml` says which signs together, in one sentence and the one before, are a signal.
Pure and total, in time linear in the text.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

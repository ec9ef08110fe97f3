"""The policies of `toolvet proxy` in an agent: a call that a model wants → go on, or the text that it reads instead.

`guard` decides for all; the other modules put it where each framework can be asked.
docs/agent-frameworks.md has a program for each.
"""

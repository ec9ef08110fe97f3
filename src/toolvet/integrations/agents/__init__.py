"""The policies of `toolvet proxy` in an agent: a call that a model wants → go on, or the text that it reads instead.

`guard` decides for all frameworks; `openai_agents`, `pydantic_ai` and `wrap` put it where each of them can be asked.
docs/agent-frameworks.md has a program for each.
"""

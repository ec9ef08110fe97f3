"""Tool definitions for model providers: the rules of each provider, and a schema that it takes.

    port_issues(tool, "openai")       # what the provider refuses, ignores or changes, each with its source
    portable(tool, "openai")          # a schema that it takes, the way back to the tool's own arguments, and a proof

Each provider is a TOML file here. Pure and total: any definition gives an answer, in bounded time.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

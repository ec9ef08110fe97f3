"""Directories of MCP servers: what each requires of definitions and manifests, and what its reviewers ask for.

    unmet(directory("openai"), tools, {})        # the rules that a server breaks, each with its source

Each directory is a TOML file here. Pure and total.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

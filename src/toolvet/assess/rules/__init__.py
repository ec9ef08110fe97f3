"""Rules: each judges tools, calls or a server and yields findings. They are in `catalog/`, a file for each subject.

>>> from toolvet.assess.rules import judge_tool, tool_definition
>>> tool = tool_definition({"name": "search", "inputSchema": {"type": "object"}})
>>> [finding.id for finding in judge_tool(tool)]
['tool-undescribed']
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

"""Reports as documents: JSON, HTML, Markdown, JUnit, SARIF, GitHub annotations, and the terminal.

Data in, text out: no server, no engine, no files.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

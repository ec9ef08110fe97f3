"""Who may ask for what: the host and the page a request comes from, who sends it, and what their role allows."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

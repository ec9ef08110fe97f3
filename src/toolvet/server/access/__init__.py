"""Access control: the host and the page a request comes from, its sender, and what the sender's role allows."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

"""The store and the review queue for people and programs: web pages and an HTTP API, served by `toolvet serve`."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

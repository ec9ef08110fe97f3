"""The public import path of `answered`, for servers of a framework that has no module here."""

from toolvet.integrations.validation.answer import answered

__all__ = ["answered"]

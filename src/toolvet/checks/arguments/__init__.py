"""A tool and the arguments of a call → a report that a model can mend its call with."""

from toolvet.checks.arguments.check import check_arguments
from toolvet.checks.arguments.guide import PropertyHelp, SchemaHelp
from toolvet.checks.arguments.issue import Issue
from toolvet.checks.arguments.report import META_KEY, ArgumentReport

__all__ = ["META_KEY", "ArgumentReport", "Issue", "PropertyHelp", "SchemaHelp", "check_arguments"]

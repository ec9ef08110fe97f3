"""What `check_arguments` answers with: whether the call is valid, and all that helps to mend it."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from toolvet.checks.arguments.correction import shown_repair
from toolvet.checks.arguments.guide import SchemaHelp, guide_of
from toolvet.checks.arguments.issue import Issue
from toolvet.checks.arguments.markdown import written
from toolvet.checks.arguments.received import shown_name
from toolvet.checks.arguments.wording_table import wording
from toolvet.schema import Repair, Schema
from toolvet.schema.weight import MOST_STEPS
from toolvet.tool import view_of

META_KEY = "dev.toolvet/arguments"


class ArgumentReport(msgspec.Struct, eq=False):
    """What is wrong with a call, and what would be right. Made by `check_arguments`; everything is read-only.

    All but `valid` and `issues` is worked out when it is asked for, so a valid call costs next to nothing; `repair`
    reads the arguments then, so they must not have been changed in between.
    """

    # A Struct, because one is made for every call: a class with slots takes three times as long.
    _tool: object
    _ready: Schema | None
    _arguments: object
    _issues: tuple[Issue, ...] = ()
    _correct: Callable[[Schema, object], Repair | None] | None = None
    _repair: Repair | None = None

    @property
    def valid(self) -> bool:
        """Whether the call may go out. True, too, where nothing could be checked: see `unchecked`."""
        return not self._issues

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Everything that is wrong, in the order of the call."""
        return self._issues

    @property
    def summary(self) -> str:
        """One sentence."""
        text = wording().text
        template = text["summary_valid" if self.valid else "summary_invalid"]
        return template.format(tool=shown_name(view_of(self._tool).name), count=len(self._issues))

    @property
    def unchecked(self) -> str | None:
        """What could not be checked, and why; None if everything was."""
        if self._ready is None:
            return "the tool has no inputSchema"
        if self._ready.problem is not None:
            return f"the inputSchema cannot be used: {self._ready.problem.message}"
        if self.valid and self._ready.effort(self._arguments) > MOST_STEPS:
            return "the inputSchema is recursive, and this call too deep for it: no budget suffices to check it"
        return "; ".join(self._ready.notes) or None

    @property
    def schema(self) -> SchemaHelp:
        """What the tool takes: description, all properties, what is required, a valid example."""
        found = guide_of(self._ready).help if self._ready is not None else _NO_HELP
        return SchemaHelp(
            view_of(self._tool).description, found.properties, found.required, found.examples, found.omitted
        )

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What to look at, by kind of mistake; empty for a valid call."""
        return suggestions_for(self._issues, has_example=bool(self._example))

    @property
    def _example(self) -> tuple[object, ...]:
        return guide_of(self._ready).example if self._ready is not None else ()

    @property
    def valid_example(self) -> object:
        """A complete call that is valid, always the same; None if none was found."""
        return self._example[0] if self._example else None

    @property
    def repair(self) -> Repair | None:
        """The nearest call that is valid, if there is one that invents nothing; None otherwise. With the true values.

        It is an offer: nothing was applied.
        """
        if self._correct is not None:
            if self._ready is not None:
                self._repair = self._correct(self._ready, self._arguments)
            self._correct = None
        return self._repair

    def to_dict(self) -> dict[str, object]:
        """The JSON form: `{"valid": true}`, or `{"valid": false, "error": {…}}`."""
        if self.valid:
            return {"valid": True, **({"unchecked": self.unchecked} if self.unchecked else {})}
        error: dict[str, object] = {
            "type": "validation",
            "summary": self.summary,
            "issues": [issue.to_dict() for issue in self._issues],
            "schema": self.schema.to_dict(),
            "suggestions": list(self.suggestions),
        }
        if self._example:
            error["validExample"] = self._example[0]
        if self.repair is not None:
            error["repair"] = shown_repair(self.repair)
        return {"valid": False, "error": error}

    def to_text(self, max_chars: int | None = None) -> str:
        """The report for a model, as Markdown: summary, issues, corrected call, schema, suggestions, example.

        With `max_chars` the text is never longer: the schema is left out first, then suggestions and example, and the
        issues are shortened last. The text says what was left out.
        """
        return written(self, guide_of(self._ready) if self._ready is not None else None, max_chars)

    def to_result(self, era: Literal["legacy", "modern"] = "modern") -> dict[str, object]:
        """An MCP tool result that tells the model (`isError: true`), with the JSON form in `_meta`.

        Raises ValueError for a valid call: there is nothing to tell.
        """
        if self.valid:
            raise ValueError("the call is valid: pass it on instead of answering it")
        result: dict[str, object] = {
            "content": [{"type": "text", "text": self.to_text()}],
            "isError": True,
            "_meta": {META_KEY: self.to_dict()},
        }
        return {"resultType": "complete", **result} if era == "modern" else result

    def __repr__(self) -> str:
        said = "valid" if self.valid else f"{len(self._issues)} issues"
        return f"<ArgumentReport of {view_of(self._tool).name!r}: {said}>"


_NO_HELP = SchemaHelp("", {}, (), ())


def suggestions_for(issues: Sequence[Issue], *, has_example: bool) -> tuple[str, ...]:
    """One suggestion for each kind of mistake among the issues, and the general one."""
    fields: dict[str, dict[str, None]] = {}
    for issue in issues:
        fields.setdefault(issue.kind, {})[issue.field] = None
    told = [
        template.format(fields=", ".join(list(fields[kind])[:_MOST_FIELDS])) if "{" in template else template
        for kind, template in wording().suggestion.items()
        if kind in fields
    ]
    if issues and has_example:
        told.append(wording().suggestion["general"])
    return tuple(told)


_MOST_FIELDS = 30

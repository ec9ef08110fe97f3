"""The violations of a schema → issues, one or more for each violation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

import msgspec

from toolvet.core.checks.arguments.facts import describe_fix
from toolvet.core.checks.arguments.guide import Guide, KeywordText
from toolvet.core.checks.arguments.issue import NOTHING, Issue, Sent, issue_at
from toolvet.core.checks.arguments.placeholders import NAME, Subject, texts_for
from toolvet.core.checks.arguments.received import show_name
from toolvet.core.checks.arguments.similarity import similar_strings
from toolvet.core.checks.arguments.union import intended_form
from toolvet.core.checks.arguments.wording_table import phrase, text
from toolvet.core.json_value import (
    elements,
    is_array,
    members,
    names,
    number,
    pointer,
    pointer_steps,
    same,
    type_name,
)
from toolvet.core.schema.numbers import exact, interval, plain
from toolvet.core.schema.repairs.misnamed import Misnamed, find_misnamed
from toolvet.core.schema.violation import Violation

_LARGEST: Final = Fraction(10**15)
_COMPARED: Final = 200


def collect_issues(guide: Guide, violations: Iterable[Violation]) -> tuple[Issue, ...]:
    """All issues, in the order of the call; each violation gives at least one."""
    collector = _IssueCollector(guide)
    for violation in violations:
        collector.add_violation(violation)
    if not collector.unions:
        return tuple(collector.issues)
    # Two unions may report the same issue.
    return tuple({(issue.pointer, issue.problem, issue.fix): issue for issue in collector.issues}.values())


def syntax_issue(guide: Guide, row: str, sent: object, problem: str) -> Issue:
    """The issue of arguments that are not readable JSON; `row` names its row in wording.toml."""
    return issue_at("", row, texts_for(guide, Subject(row, "", row, {}, extra=problem)), Sent(sent))


class _IssueCollector:
    """Collects issues. Texts that were made once are in the guide, so another issue costs one look-up."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.issues: list[Issue] = []
        self.unions = 0

    def add_violation(self, violation: Violation) -> None:
        keyword = violation.keyword
        special = _SPECIAL.get(keyword)
        if special is not None:
            special(self, violation)
        else:
            self.add(violation, self.texts(violation, keyword))

    def texts(
        self,
        violation: Violation,
        row: str,
        *,
        member: str = "",
        received: str = "",
        extra: str = "",
        values: tuple[object, ...] = (),
    ) -> KeywordText:
        if not values:
            known = self.guide.words.get((row, violation.schema_pointer, member, received, extra))
            if known is not None:
                return known
        path = pointer_steps(violation.pointer)
        return texts_for(
            self.guide,
            Subject(
                row=row,
                schema_pointer=violation.schema_pointer,
                keyword=violation.keyword,
                params=violation.params,
                member=member,
                received=received,
                extra=extra,
                values=values,
                path=path,
            ),
        )

    def add(self, violation: Violation, words: KeywordText, *, guesses: tuple[object, ...] = ()) -> None:
        sent = Sent(violation.instance)
        self.issues.append(issue_at(violation.pointer, violation.keyword, words, sent, guesses=guesses))

    def add_member(self, violation: Violation, words: KeywordText, name: str, sent: Sent) -> None:
        self.issues.append(issue_at(violation.pointer + pointer((name,)), violation.keyword, words, sent))

    def add_wrong_type(self, violation: Violation) -> None:
        """A value of the wrong type."""
        received = _type_sent(violation.instance, elements(violation.params.get("types")))
        self.add(violation, self.texts(violation, "type", received=received))

    def add_unlisted(self, violation: Violation) -> None:
        """A value that is not in the list."""
        guesses = _similar_values(violation.instance, elements(violation.params.get("options")))
        self.add(violation, self.texts(violation, "enum"), guesses=guesses)

    def add_missing(self, violation: Violation) -> None:
        """A required member that is missing."""
        member = violation.params.get("property")
        if not isinstance(member, str):
            self.add(violation, self.texts(violation, "other"))
            return
        because = "" if violation.keyword == "required" else self._reason(violation, member)
        words = self.texts(violation, violation.keyword, member=member, extra=because)
        place = violation.pointer + pointer((member,))
        fix = self._rename(violation, member, words.fix)
        self.issues.append(issue_at(place, violation.keyword, words, NOTHING, fix=fix))

    def _rename(self, violation: Violation, member: str, fix: str) -> str:
        """`fix`, or the advice to rename a member that the schema does not declare and whose name is similar."""
        sent = members(violation.instance)
        if not sent or len(sent) > _COMPARED:
            return fix
        declared = self.guide.facts(violation.schema_pointer.rpartition("/")[0]).demands.declared()
        unknown = [name for name in sent if name not in declared]
        if not unknown:
            return fix
        similar = similar_strings(member, unknown)
        misnamed = self._misnamed(violation.pointer, sent) if len(unknown) == 1 and not similar else None
        if misnamed is not None and misnamed.meant == member:
            similar = (misnamed.sent,)
        if not similar:
            return fix
        renamed = text("renamed", name=show_name(similar[0]), other=member)
        return f"{renamed}{fix.partition(':')[2] or '.'}"

    def _misnamed(self, place: str, sent: Mapping[str, object]) -> Misnamed | None:
        """The one unknown member of an object that is its one missing member under another name, or None."""
        facts = self.guide.facts_at(place)
        if facts is None or facts.impossible or facts.demands.intricate:
            return None
        missing = [name for name in facts.demands.required() if name not in sent]
        judge = self.guide.judge
        return find_misnamed(
            facts.demands, sent, missing, lambda parts, value: all(judge.accepts(part, value) for part in parts)
        )

    def _reason(self, violation: Violation, member: str) -> str:
        """` because 'a' is sent`, where the member `a` requires this one."""
        part = self.guide.part(violation.schema_pointer)
        rules = members(None if part is None else part.schema)
        sent = members(violation.instance)
        found = next((name for name, wanted in rules.items() if name in sent and member in names(wanted)), None)
        return "" if found is None else phrase("because", reason=phrase("is_sent", name=found))

    def add_unknown(self, violation: Violation) -> None:
        """An issue for each member that the schema does not allow."""
        unexpected = names(violation.params.get("unexpected"))
        words = self.texts(violation, violation.keyword)
        if not unexpected:
            self.add(violation, words)
            return
        facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
        sent = members(violation.instance)
        free = [declared for declared in facts.demands.declared() if declared not in sent]
        for name in unexpected:
            guesses = similar_strings(name, free)
            misnamed = None if guesses or len(unexpected) > 1 else self._misnamed(violation.pointer, sent)
            if misnamed is not None and misnamed.sent == name:
                guesses = (misnamed.meant,)
            fix = words.fix
            if guesses:
                rename = text("rename", name=NAME, other=guesses[0])
                fix = f"{rename};{fix.partition(';')[2]}"
            place = violation.pointer + pointer((name,))
            self.issues.append(
                issue_at(place, violation.keyword, words, Sent(sent.get(name)), fix=fix, guesses=guesses)
            )

    def add_wrong_name(self, violation: Violation) -> None:
        """A member whose name is not allowed."""
        name = str(violation.params.get("property"))
        sent = Sent(members(violation.instance).get(name))
        self.add_member(violation, self.texts(violation, "propertyNames"), name, sent)

    def add_wrong_multiple(self, violation: Violation) -> None:
        """A number that is not a multiple, with the multiples next to it as guesses."""
        guesses: tuple[object, ...] = ()
        sent, divisor = exact(violation.instance), violation.params.get("multiple_of")
        step = exact(divisor)
        if sent is not None and step and number(violation.instance) is not None and abs(sent) < _LARGEST:
            facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
            span = interval([*facts.schemas, {"multipleOf": divisor}])
            below = sent - sent % step
            guesses = tuple(
                value for near in (below, below + step) if span.holds(near) and (value := plain(near)) is not None
            )
        self.add(violation, self.texts(violation, "multipleOf"), guesses=guesses)

    def add_equal_items(self, violation: Violation) -> None:
        """Equal items in an array of unique ones."""
        self.add(violation, self.texts(violation, "uniqueItems", extra=_equal_items(violation.instance)))

    def add_union(self, violation: Violation) -> None:
        """A value that fits none of several forms, or more than one."""
        self.unions += 1
        form = intended_form(self.guide, violation)
        if form.violations:
            start = len(self.issues)
            for each in form.violations:
                self.add_violation(each)
            if form.whole:
                # The other forms are as likely: the fix names them all.
                facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
                path = pointer_steps(violation.pointer)
                fix = describe_fix(facts, show_name(path[-1]) if path else "root")
                self.issues[start:] = [msgspec.structs.replace(issue, fix=fix) for issue in self.issues[start:]]
        elif form.row == "required":
            words = self.texts(violation, "required", member=form.member, values=form.values)
            self.add_member(violation, words, form.member, NOTHING)
        elif form.row == "enum":
            sent = members(violation.instance).get(form.member) if form.member else violation.instance
            place = violation.pointer + (pointer((form.member,)) if form.member else "")
            words = self.texts(violation, "enum", member=form.member, values=form.values)
            guesses = _similar_values(sent, form.values)
            self.issues.append(issue_at(place, violation.keyword, words, Sent(sent), guesses=guesses))
        elif form.row == "type":
            self.add(violation, self.texts(violation, "type", received=_type_sent(violation.instance, ())))
        else:
            self.add(violation, self.texts(violation, form.row))


_SPECIAL: Final[Mapping[str, Callable[[_IssueCollector, Violation], None]]] = {
    "type": _IssueCollector.add_wrong_type,
    "enum": _IssueCollector.add_unlisted,
    "required": _IssueCollector.add_missing,
    "dependentRequired": _IssueCollector.add_missing,
    "dependencies": _IssueCollector.add_missing,
    "additionalProperties": _IssueCollector.add_unknown,
    "unevaluatedProperties": _IssueCollector.add_unknown,
    "propertyNames": _IssueCollector.add_wrong_name,
    "multipleOf": _IssueCollector.add_wrong_multiple,
    "uniqueItems": _IssueCollector.add_equal_items,
    "anyOf": _IssueCollector.add_union,
    "oneOf": _IssueCollector.add_union,
}


def _similar_values(value: object, options: Iterable[object]) -> tuple[object, ...]:
    """The valid values that were probably intended: similar in spelling, or equal but for quotes."""
    if isinstance(value, str):
        legal = list(options)
        found: tuple[object, ...] = similar_strings(value, legal)
        if found:
            return found
        return tuple(option for option in legal if not isinstance(option, str) and str(option).lower() == value.lower())
    return tuple(option for option in options if isinstance(option, str) and option == str(value))


def _type_sent(value: object, wanted: Sequence[object]) -> str:
    """The name of the type of `value`: a number with a fraction is a float where an integer is wanted."""
    name = type_name(value)
    if name == "number" and "integer" in wanted:
        return "float"
    return "number" if name == "integer" else name


def _equal_items(value: object) -> str:
    """`: items 0 and 3 are equal`, for the first two equal items among the first 200; empty without any."""
    items = elements(value)[:_COMPARED] if is_array(value) else ()
    for index, item in enumerate(items):
        for other in range(index):
            if same(items[other], item):
                return f": items {other} and {index} are equal"
    return ""

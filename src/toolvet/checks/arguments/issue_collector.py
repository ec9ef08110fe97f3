"""Violations of a schema → issues."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import msgspec

from toolvet.checks.arguments.facts import provide
from toolvet.checks.arguments.guide import Guide, KeywordText
from toolvet.checks.arguments.issue import NOTHING, Issue, Sent, issue_at, steps_of
from toolvet.checks.arguments.placeholders import NAME, Subject, words_for
from toolvet.checks.arguments.received import shown_name
from toolvet.checks.arguments.similarity import close
from toolvet.checks.arguments.union import meant
from toolvet.checks.arguments.wording_table import wording
from toolvet.schema.json_value import elements, is_array, members, names, number, pointer, same, type_name
from toolvet.schema.numbers import exact, interval, plain
from toolvet.schema.violation import Violation


def issues_of(guide: Guide, violations: Iterable[Violation]) -> tuple[Issue, ...]:
    """All issues, in the order of the call; each violation becomes at least one."""
    teller = _Teller(guide)
    for violation in violations:
        teller.tell(violation)
    if not teller.unions:
        return tuple(teller.issues)
    # Two unions may blame the same thing.
    return tuple({(issue.pointer, issue.problem, issue.fix): issue for issue in teller.issues}.values())


def syntax_issue(guide: Guide, row: str, sent: object, problem: str) -> Issue:
    """The issue of arguments that could not even be read."""
    return issue_at("", row, words_for(guide, Subject(row, "", row, {}, extra=problem)), Sent(sent))


class _Teller:
    """Collects issues. Words that were found once are in the guide: then an issue costs one look-up."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.issues: list[Issue] = []
        self.unions = 0

    def tell(self, violation: Violation) -> None:
        keyword = violation.keyword
        tell = _SPECIAL.get(keyword)
        if tell is not None:
            tell(self, violation)
        else:
            self.add(violation, self.words(violation, keyword))

    def words(
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
        path = steps_of(violation.pointer)
        return words_for(
            self.guide,
            Subject(
                row,
                violation.schema_pointer,
                violation.keyword,
                violation.params,
                member,
                received,
                extra,
                values,
                path,
            ),
        )

    def add(self, violation: Violation, words: KeywordText, *, guesses: tuple[object, ...] = ()) -> None:
        sent = Sent(violation.instance)
        self.issues.append(issue_at(violation.pointer, violation.keyword, words, sent, guesses=guesses))

    def add_member(self, violation: Violation, words: KeywordText, name: str, sent: Sent) -> None:
        self.issues.append(issue_at(violation.pointer + pointer((name,)), violation.keyword, words, sent))

    def kind(self, violation: Violation) -> None:
        """A value of the wrong type."""
        wanted = names(violation.params.get("types"))
        self.add(violation, self.words(violation, "type", received=_type_sent(violation.instance, wanted)))

    def enum(self, violation: Violation) -> None:
        """A value that is not in the list."""
        guesses = _close(violation.instance, elements(violation.params.get("options")))
        self.add(violation, self.words(violation, "enum"), guesses=guesses)

    def missing(self, violation: Violation) -> None:
        """A member that has to be there."""
        member = violation.params.get("property")
        if not isinstance(member, str):
            self.add(violation, self.words(violation, "other"))
            return
        because = "" if violation.keyword == "required" else self._trigger(violation, member)
        words = self.words(violation, violation.keyword, member=member, extra=because)
        place = violation.pointer + pointer((member,))
        fix = self._rename(violation, member, words.fix)
        self.issues.append(issue_at(place, violation.keyword, words, NOTHING, fix=fix))

    def _rename(self, violation: Violation, member: str, fix: str) -> str:
        """The fix, or where a member that the schema does not name was probably meant, to rename that one."""
        sent = members(violation.instance)
        if not sent or len(sent) > _COMPARED:
            return fix
        declared = self.guide.facts(violation.schema_pointer.rpartition("/")[0]).demands.declared()
        found = close(member, [name for name in sent if name not in declared])
        if not found:
            return fix
        template = wording().text["renamed"]
        return f"{template.format(name=shown_name(found[0]), other=member)}{fix.partition(':')[2] or '.'}"

    def _trigger(self, violation: Violation, member: str) -> str:
        """Which other member requires this one."""
        part = self.guide.part(violation.schema_pointer)
        rules = members(None if part is None else part.schema)
        sent = members(violation.instance)
        found = next((name for name, wanted in rules.items() if name in sent and member in names(wanted)), None)
        return "" if found is None else f" because '{found}' is sent"

    def unknown(self, violation: Violation) -> None:
        """Members that the schema does not allow: an issue for each."""
        unexpected = names(violation.params.get("unexpected"))
        words = self.words(violation, violation.keyword)
        if not unexpected:
            self.add(violation, words)
            return
        facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
        sent = members(violation.instance)
        free = [declared for declared in facts.demands.declared() if declared not in sent]
        for name in unexpected:
            guesses = close(name, free)
            fix = words.fix
            if guesses:
                rename = wording().text["rename"].format(name=NAME, other=guesses[0])
                fix = f"{rename};{fix.partition(';')[2]}"
            place = violation.pointer + pointer((name,))
            self.issues.append(
                issue_at(place, violation.keyword, words, Sent(sent.get(name)), fix=fix, guesses=guesses)
            )

    def name(self, violation: Violation) -> None:
        """A member whose name is not allowed."""
        name = str(violation.params.get("property"))
        sent = Sent(members(violation.instance).get(name))
        self.add_member(violation, self.words(violation, "propertyNames"), name, sent)

    def multiple(self, violation: Violation) -> None:
        """A number between the legal ones: the legal ones next to it."""
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
        self.add(violation, self.words(violation, "multipleOf"), guesses=guesses)

    def equal(self, violation: Violation) -> None:
        """Items that are the same."""
        self.add(violation, self.words(violation, "uniqueItems", extra=_equal_items(violation.instance)))

    def union(self, violation: Violation) -> None:
        """None of several forms, or more than one."""
        self.unions += 1
        told = meant(self.guide, violation)
        if told.violations:
            start = len(self.issues)
            for each in told.violations:
                self.tell(each)
            if told.whole:
                # The other forms are as good: what to do names them all.
                facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
                path = steps_of(violation.pointer)
                fix = provide(facts, shown_name(path[-1]) if path else "root")
                self.issues[start:] = [msgspec.structs.replace(issue, fix=fix) for issue in self.issues[start:]]
        elif told.row == "required":
            words = self.words(violation, "required", member=told.member, values=told.values)
            self.add_member(violation, words, told.member, NOTHING)
        elif told.row == "enum":
            sent = members(violation.instance).get(told.member) if told.member else violation.instance
            place = violation.pointer + (pointer((told.member,)) if told.member else "")
            words = self.words(violation, "enum", member=told.member, values=told.values)
            guesses = _close(sent, told.values)
            self.issues.append(issue_at(place, violation.keyword, words, Sent(sent), guesses=guesses))
        elif told.row == "type":
            self.add(violation, self.words(violation, "type", received=_type_sent(violation.instance, ())))
        else:
            self.add(violation, self.words(violation, told.row))


_SPECIAL: Mapping[str, Callable[[_Teller, Violation], None]] = {
    "type": _Teller.kind,
    "enum": _Teller.enum,
    "required": _Teller.missing,
    "dependentRequired": _Teller.missing,
    "dependencies": _Teller.missing,
    "additionalProperties": _Teller.unknown,
    "unevaluatedProperties": _Teller.unknown,
    "propertyNames": _Teller.name,
    "multipleOf": _Teller.multiple,
    "uniqueItems": _Teller.equal,
    "anyOf": _Teller.union,
    "oneOf": _Teller.union,
}
_LARGEST = Fraction(10**15)
_COMPARED = 200


def _close(value: object, options: Iterable[object]) -> tuple[object, ...]:
    """The legal values that were probably meant: close in spelling, or the same in quotes or without."""
    if isinstance(value, str):
        legal = list(options)
        found: tuple[object, ...] = close(value, legal)
        if found:
            return found
        return tuple(option for option in legal if not isinstance(option, str) and str(option).lower() == value.lower())
    return tuple(option for option in options if isinstance(option, str) and option == str(value))


def _type_sent(value: object, wanted: tuple[str, ...]) -> str:
    """The type as the field names it: a number with a fraction is a float where a whole one is wanted."""
    name = type_name(value)
    if name == "number" and "integer" in wanted:
        return "float"
    return "number" if name == "integer" else name


def _equal_items(value: object) -> str:
    """The first two items that are equal, among the first few hundred."""
    items = elements(value)[:_COMPARED] if is_array(value) else ()
    for index, item in enumerate(items):
        for other in range(index):
            if same(items[other], item):
                return f": items {other} and {index} are equal"
    return ""

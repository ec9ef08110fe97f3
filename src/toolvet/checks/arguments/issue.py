"""Violations of a schema, told one by one so that a model can mend its call."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from toolvet.checks.arguments.facts import provide
from toolvet.checks.arguments.guide import Guide
from toolvet.checks.arguments.received import MISSING, holds_secret, shown_name, shown_value
from toolvet.checks.arguments.spelling import close
from toolvet.checks.arguments.terms import NAME, Subject, words_for
from toolvet.checks.arguments.union import Meant, meant
from toolvet.schema.json_value import elements, is_array, members, names, number, pointer, same, type_name
from toolvet.schema.numbers import exact, interval, plain
from toolvet.schema.violation import Violation


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a call.

    `field` is the place for a reader (`items.0.id`, or `root`), `pointer` the same as a JSON Pointer, `keyword` the
    keyword of the schema that is broken, and `kind` what sort of mistake it is (`required`, `type`, `format`, `pattern`,
    `range`, `size`, `enum`, `unknown`, `excluded`, `union`, `syntax`). `received` is what was sent: never a secret,
    never long, `(missing)` for what is not there. `expected` says what is legal in a few words, `fix` what to do.
    `did_you_mean` holds the legal values or names closest to what was sent, if any are close; `examples` a legal
    value, if one is known.
    """

    field: str
    pointer: str
    keyword: str
    kind: str
    problem: str
    received: object
    received_text: str
    expected: str
    fix: str
    did_you_mean: tuple[object, ...] = ()
    examples: tuple[object, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        told: dict[str, object] = {
            "field": self.field,
            "pointer": self.pointer,
            "keyword": self.keyword,
            "kind": self.kind,
            "problem": self.problem,
            "received": self.received,
            "expected": self.expected,
            "fix": self.fix,
        }
        if self.did_you_mean:
            told["didYouMean"] = list(self.did_you_mean)
        if self.examples:
            told["examples"] = list(self.examples)
        return told


def issues_of(guide: Guide, violations: Iterable[Violation]) -> tuple[Issue, ...]:
    """All issues, in the order of the call; each violation becomes at least one."""
    teller = _Teller(guide)
    for violation in violations:
        teller.tell(violation)
    return tuple(dict.fromkeys(teller.issues)) if teller.unions else tuple(teller.issues)


def syntax_issue(guide: Guide, row: str, keyword: str, text: str, problem: str) -> Issue:
    """The issue of arguments that could not even be read; `text` is what was sent."""
    words = words_for(guide, Subject(row, "", keyword, {}, extra=problem))
    received, received_text = shown_value(text, secret=False)
    return Issue(
        field="root",
        pointer="",
        keyword=keyword,
        kind=words.kind,
        problem=words.problem,
        received=received,
        received_text=received_text,
        expected=words.expected,
        fix=words.fix,
    )


class _Teller:
    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.issues: list[Issue] = []
        self.unions = 0

    def tell(self, violation: Violation) -> None:
        keyword, params = violation.keyword, violation.params
        match keyword:
            case "required" | "dependentRequired" | "dependencies":
                member = params.get("property")
                if isinstance(member, str):
                    self._missing(violation, member)
                else:
                    self._simple(violation)
            case "additionalProperties" | "unevaluatedProperties" if names(params.get("unexpected")):
                for name in names(params.get("unexpected")):
                    self._unknown(violation, name)
            case "propertyNames":
                self._add(violation, keyword, child=str(params.get("property")))
            case "anyOf" | "oneOf":
                self.unions += 1
                self._union(violation)
            case "enum":
                self._add(violation, keyword, guesses=_close(violation.instance, elements(params.get("options"))))
            case "const":
                self._add(violation, keyword)
            case "type":
                self._add(violation, keyword, received=_type_sent(violation.instance, names(params.get("types"))))
            case "multipleOf":
                self._add(violation, keyword, guesses=self._nearest(violation))
            case "uniqueItems":
                self._add(violation, keyword, extra=_equal_items(violation.instance))
            case _:
                self._simple(violation)

    def _simple(self, violation: Violation) -> None:
        self._add(violation, violation.keyword)

    def _missing(self, violation: Violation, member: str) -> None:
        because = ""
        if violation.keyword != "required":
            home = members(self.guide.part(violation.schema_pointer) and self._part(violation.schema_pointer))
            triggers = [name for name, wanted in home.items() if member in names(wanted) and name in members(violation.instance)]
            because = f" because '{triggers[0]}' is sent" if triggers else ""
        self._add(violation, violation.keyword, child=member, member=member, extra=because)

    def _part(self, schema_pointer: str) -> object:
        part = self.guide.part(schema_pointer)
        return None if part is None else part.schema

    def _unknown(self, violation: Violation, name: str) -> None:
        facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
        sent = members(violation.instance)
        free = [declared for declared in facts.demands.declared() if declared not in sent]
        guesses = close(name, free)
        self._add(violation, violation.keyword, child=name, guesses=guesses)

    def _nearest(self, violation: Violation) -> tuple[object, ...]:
        """The multiples next to the number that was sent, where they are legal."""
        sent = exact(violation.instance)
        step = exact(violation.params.get("multiple_of"))
        if sent is None or not step or number(violation.instance) is None or abs(sent) > _LARGEST:
            return ()
        facts = self.guide.facts(violation.schema_pointer.rpartition("/")[0])
        span = interval([*facts.schemas, {"multipleOf": violation.params.get("multiple_of")}])
        below = sent - sent % step
        return tuple(value for near in (below, below + step) if span.holds(near) and (value := plain(near)) is not None)

    def _union(self, violation: Violation) -> None:
        told: Meant = meant(self.guide, violation)
        if told.violations and not told.whole:
            for each in told.violations:
                self.tell(each)
            return
        if told.violations:
            start = len(self.issues)
            for each in told.violations:
                self.tell(each)
            # The other forms are as good: what to do names them all.
            fix = provide(self.guide.facts(violation.schema_pointer.rpartition("/")[0]), _last(violation.pointer))
            self.issues[start:] = [msgspec.structs.replace(issue, fix=fix) for issue in self.issues[start:]]
            return
        if told.row == "required":
            self._add(violation, "required", child=told.member, member=told.member, values=told.values)
        elif told.row == "enum":
            value = members(violation.instance).get(told.member) if told.member else violation.instance
            guesses = _close(value, told.values)
            self._add(violation, "enum", child=told.member, values=told.values, guesses=guesses, value=(value,))
        elif told.row == "type":
            self._add(violation, "type", received=_type_sent(violation.instance, ()))
        else:
            self._add(violation, told.row)

    def _add(
        self,
        violation: Violation,
        row: str,
        *,
        child: str = "",
        member: str = "",
        received: str = "",
        extra: str = "",
        values: tuple[object, ...] = (),
        guesses: tuple[object, ...] = (),
        value: tuple[object, ...] = (),
    ) -> None:
        place = violation.pointer + (pointer((child,)) if child else "")
        path = _path(place)
        subject = Subject(
            row,
            violation.schema_pointer,
            violation.keyword,
            dict(violation.params),
            member,
            received,
            extra,
            values,
            _path(violation.pointer),
        )
        words = words_for(self.guide, subject)
        secret = holds_secret(path)
        if member:
            shown, text = MISSING, MISSING
        elif value:
            shown, text = shown_value(value[0], secret=secret)
        elif child:
            shown, text = shown_value(members(violation.instance).get(child), secret=secret)
        else:
            shown, text = shown_value(violation.instance, secret=secret)
        last = shown_name(path[-1]) if path else "root"
        fix = words.fix.replace(NAME, last)
        if guesses and words.kind == "unknown":
            fix = f"Rename '{last}' to '{guesses[0]}', or remove it;{fix.partition(';')[2]}"
        self.issues.append(
            Issue(
                field=".".join(map(shown_name, path)) or "root",
                pointer=pointer(map(shown_name, path)),
                keyword=violation.keyword,
                kind=words.kind,
                problem=words.problem.replace(NAME, last),
                received=shown,
                received_text=text,
                expected=words.expected,
                fix=fix,
                did_you_mean=guesses,
                examples=words.examples,
            )
        )


_LARGEST = Fraction(10**15)


def _path(place: str) -> tuple[str, ...]:
    if not place:
        return ()
    steps = place[1:].split("/")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps) if "~" in place else tuple(steps)


def _last(place: str) -> str:
    path = _path(place)
    return path[-1] if path else "root"


def _close(value: object, options: Iterable[object]) -> tuple[object, ...]:
    legal = list(options)
    if isinstance(value, str):
        found: tuple[object, ...] = close(value, legal)
        if found:
            return found
        # A number or a truth value in quotes.
        return tuple(option for option in legal if not isinstance(option, str) and str(option).lower() == value.lower())
    return tuple(option for option in legal if isinstance(option, str) and option == str(value))


def _type_sent(value: object, wanted: tuple[str, ...]) -> str:
    """The type as the field names it: a number with a fraction is a float where a whole one is wanted."""
    name = type_name(value)
    if name == "number" and "integer" in wanted:
        return "float"
    return "number" if name == "integer" else name


def _equal_items(value: object) -> str:
    items = elements(value)[:_COMPARED] if is_array(value) else ()
    for index, item in enumerate(items):
        for other in range(index):
            if same(items[other], item):
                return f": items {other} and {index} are equal"
    return ""


_COMPARED = 200

"""`Issue`: one thing that is wrong with a call, in words from which a model can fix it.

The form of a union that a value was probably intended to have.

For `oneOf` with the forms circle (`kind` "circle", `radius`) and square (`kind` "square", `side`):

    {"kind": "square"}                the discriminator `kind` names the form: report what is wrong with a square
    {"kind": "sqare", "side": 1}      no form has this value: one issue about `kind`, with both values as valid ones
    {"side": 1}                       only the square fits but for its `kind`: report what is wrong with a square

Without a field like `kind`, the intended form is the one with the fewest errors, and of several the deepest ones.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import msgspec

from toolvet.core.checks.arguments.guide import Discriminators, Guide, KeywordText, describe_fix
from toolvet.core.checks.arguments.placeholders import NAME, Subject, required_of, texts_for
from toolvet.core.checks.arguments.wording import MISSING, holds_secret, phrase, show_name, show_value, text
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import (
    count,
    elements,
    is_array,
    is_object,
    members,
    names,
    number,
    pointer,
    pointer_steps,
    same,
    type_name,
    unique,
)
from toolvet.core.schema.numbers import exact, interval, plain
from toolvet.core.schema.repairs.members import Misnamed, find_misnamed
from toolvet.core.schema.violation import MOST_LISTED, Violation


class Issue(JsonForm, msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that is wrong with a call.

    field: the place for a reader, such as `items.0.id`, or `root`.
    pointer: the same as a JSON Pointer.
    keyword: the keyword of the schema that the value violates.
    kind: the sort of mistake: `required`, `type`, `format`, `pattern`, `range`, `size`, `enum`, `unknown`, `excluded`,
        `union`, `syntax`, `partial` if not everything is listed, or `unchecked` for a tool without a schema.
    problem: the problem in a sentence.
    received: what was sent, without secrets and not long; `(missing)` for a missing member.
    received_text: the same as the Markdown report shows it.
    expected: what is valid, in a few words.
    fix: what to do.
    did_you_mean: valid values or names that are close to what was sent.
    examples: a valid value, if one is known.
    """

    _hides = ("received_text",)
    _sparse = ("did_you_mean", "examples")

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


class Sent(msgspec.Struct, frozen=True, gc=False):
    """The value in the call at the place of an issue; `NOTHING` for a missing one."""

    value: object


NOTHING: Final = Sent(MISSING)


class IssueLocation(msgspec.Struct, frozen=True, gc=False):
    """A place in a call as issues name it: `field` for a reader, the pointer, its last name, whether it is secret."""

    field: str
    pointer: str
    last: str
    secret: bool


def issue_at(
    place: str, keyword: str, words: KeywordText, sent: Sent, *, fix: str = "", guesses: tuple[object, ...] = ()
) -> Issue:
    """The issue at `place`, a JSON Pointer. A `fix` replaces that of `words`."""
    # Calls name the same few places repeatedly, so short ones are cached; a long one is not the name of a field.
    at = _known_place(place) if len(place) <= _LONGEST_KEPT else _read_place(place)
    problem, fix = words.problem, fix or words.fix
    if words.names:
        problem, fix = problem.replace(NAME, at.last), fix.replace(NAME, at.last)
    if sent is NOTHING:
        received: object = MISSING
        received_text = MISSING
    else:
        received, received_text = show_value(sent.value, secret=at.secret)
    return Issue(
        field=at.field,
        pointer=at.pointer,
        keyword=keyword,
        kind=words.kind,
        problem=problem,
        received=received,
        received_text=received_text,
        expected=words.expected,
        fix=fix,
        did_you_mean=guesses,
        examples=words.examples,
    )


_LONGEST_KEPT: Final = 100


def _read_place(place: str) -> IssueLocation:
    path = pointer_steps(place)
    shown = tuple(map(show_name, path))
    return IssueLocation(
        field=".".join(shown) or "root",
        pointer=place if shown == path else pointer(shown),
        last=shown[-1] if shown else "root",
        secret=holds_secret(path),
    )


@lru_cache(maxsize=4096)
def _known_place(place: str) -> IssueLocation:
    return _read_place(place)


_LARGEST: Final = Fraction(10**15)
_COMPARED: Final = 200


def collect_issues(guide: Guide, violations: Iterable[Violation]) -> tuple[Issue, ...]:
    """The issues in the order of the call; each violation gives at least one.

    At most 2,000 are listed. A last one, with the keyword `unlisted`, says that there are more.
    """
    collector = _IssueCollector(guide)
    for violation in violations:
        if len(collector.issues) < MOST_LISTED:
            collector.add_violation(violation)
        else:
            collector.unlisted.append(_count_errors(violation))
    issues = collector.issues
    if collector.unions:
        # Two unions may report the same issue.
        issues = list({(issue.pointer, issue.problem, issue.fix): issue for issue in issues}.values())
    if len(issues) > MOST_LISTED:
        collector.unlisted.append(len(issues) - MOST_LISTED)
    if collector.unlisted:
        more = sum(collector.unlisted)
        extra = phrase("more_wrong", count=more) if more else phrase("too_large")
        words = texts_for(guide, Subject("unlisted", "", "unlisted", {}, extra=extra))
        issues[MOST_LISTED:] = [issue_at("", "unlisted", words, NOTHING)]
    return tuple(issues)


def syntax_issue(guide: Guide, row: str, sent: object, problem: str) -> Issue:
    """The issue of arguments that are not readable JSON; `row` names its row in wording.toml."""
    return issue_at("", row, texts_for(guide, Subject(row, "", row, {}, extra=problem)), Sent(sent))


class _IssueCollector:
    """Collects issues. Texts that were made once are in the guide, so another issue costs one look-up."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.issues: list[Issue] = []
        self.unions = 0
        # How many problems are not among the issues, by part; 0 if that is not known.
        self.unlisted: list[int] = []
        # What all missing members of one object have in common, by the pointers into the call and the schema.
        self._unknown: dict[tuple[str, str], list[str]] = {}
        self._wrong_names: dict[str, Misnamed | None] = {}
        self._triggers: dict[tuple[str, str], dict[str, str]] = {}

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

    def add_uncounted(self, violation: Violation) -> None:
        """The problems that the schema engine did not list."""
        self.unlisted.append(_count_errors(violation))

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
        because = ""
        if violation.keyword != "required":
            # Another member requires this one.
            found = self._triggers_of(violation).get(member)
            because = "" if found is None else phrase("because", reason=phrase("is_sent", name=found))
        words = self.texts(violation, violation.keyword, member=member, extra=because)
        place = violation.pointer + pointer((member,))
        fix = self._rename(violation, member, words.fix)
        self.issues.append(issue_at(place, violation.keyword, words, NOTHING, fix=fix))

    def _triggers_of(self, violation: Violation) -> dict[str, str]:
        """For each member that another one requires, the first member that was sent and requires it."""
        key = violation.pointer, violation.schema_pointer
        found = self._triggers.get(key)
        if found is None:
            found = self._triggers[key] = {}
            part = self.guide.part(violation.schema_pointer)
            for name, wanted in members(None if part is None else part.schema).items():
                if name in members(violation.instance):
                    found = self._triggers[key] = dict.fromkeys(names(wanted), name) | found
        return found

    def _rename(self, violation: Violation, member: str, fix: str) -> str:
        """`fix`, or the advice to rename a member that the schema does not declare and whose name is similar."""
        sent = members(violation.instance)
        if not sent or len(sent) > _COMPARED:
            return fix
        place = violation.pointer
        key = place, violation.schema_pointer.rpartition("/")[0]
        unknown = self._unknown.get(key)
        if unknown is None:
            declared = set(self.guide.facts(key[1]).demands.declared())
            unknown = self._unknown[key] = [name for name in sent if name not in declared]
        if not unknown:
            return fix
        similar = similar_strings(member, unknown)
        misnamed = None
        if len(unknown) == 1 and not similar:
            if place not in self._wrong_names:
                self._wrong_names[place] = self._misnamed(place, sent)
            misnamed = self._wrong_names[place]
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
        # The first two of the first 200 items.
        items = elements(violation.instance)[:_COMPARED] if is_array(violation.instance) else ()
        equal = (
            f": items {other} and {index} are equal"
            for index, item in enumerate(items)
            for other in range(index)
            if same(items[other], item)
        )
        self.add(violation, self.texts(violation, "uniqueItems", extra=next(equal, "")))

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
    "unlisted": _IssueCollector.add_uncounted,
}


def _similar_values(value: object, options: Sequence[object]) -> tuple[object, ...]:
    """The valid values that were probably intended: similar in spelling, or equal but for quotes."""
    legal = options[:_MOST_OPTIONS]
    if not isinstance(value, str):
        written = str(value)
        return tuple(option for option in legal if isinstance(option, str) and option == written)
    if len(value) > _LONGEST:
        return ()
    found: tuple[object, ...] = similar_strings(value, legal)
    lower = value.lower()
    return found or tuple(option for option in legal if not isinstance(option, str) and str(option).lower() == lower)


def _type_sent(value: object, wanted: Sequence[object]) -> str:
    """The name of the type of `value`: a number with a fraction is a float if an integer is wanted."""
    name = type_name(value)
    if name == "number" and "integer" in wanted:
        return "float"
    return "number" if name == "integer" else name


_MOST_OPTIONS: Final = 2_000
_LISTING: Final = frozenset({"enum", "const"})


class IntendedForm(msgspec.Struct, frozen=True):
    """How to report a violated union: by the `violations` of the intended form, or as one issue.

    With `whole`, the violations are about the value itself, and the other forms must be reported, too. The one issue
    has a `row` of `wording.toml`, and is about the union or about its field `member`, with the valid `values`.
    """

    violations: tuple[Violation, ...] = ()
    whole: bool = False
    row: str = ""
    member: str = ""
    values: tuple[object, ...] = ()


def intended_form(guide: Guide, union: Violation) -> IntendedForm:
    """How to report a violated `anyOf` or `oneOf`."""
    matched = [index for index in elements(union.params.get("matched")) if isinstance(index, int)]
    if matched:
        wanted = [required_of(guide, f"{union.schema_pointer}/{index}") for index in matched]
        exclusive = is_object(union.instance) and all(wanted) and len({tuple(each) for each in wanted}) > 1
        return IntendedForm(row="requiredExclusive" if exclusive else "oneOfMultiple")
    branches = union.branches
    if not any(branches):
        return IntendedForm(row="anyOf")
    here = union.pointer
    if is_object(union.instance):
        form = _form_by_discriminator(guide, union, union.instance)
        if form is not None:
            return form
    if len(branches) > 1 and all(all(_is_at(each, here, "required") for each in branch) for branch in branches):
        return IntendedForm(row="requiredAlternatives")
    # A union without a discriminator: the form with the fewest errors.
    wrong_type = [any(_is_at(each, here, "type") for each in branch) for branch in branches]
    listing = [any(each.keyword in _LISTING and each.pointer == here for each in branch) for branch in branches]
    if not all(wrong or lists for wrong, lists in zip(wrong_type, listing, strict=True)):
        best = branches[closest_form(guide, union, range(len(branches)))]
        return IntendedForm(violations=best, whole=all(each.pointer == here for each in best))
    if not all(listing):
        return IntendedForm(row="type")
    values: list[object] = []
    for each in (each for branch in branches for each in branch if each.pointer == here):
        if each.keyword == "enum":
            values.extend(elements(each.params.get("options")))
        elif each.keyword == "const":
            values.append(each.params.get("expected_value"))
    return IntendedForm(row="enum", values=tuple(unique(values)))


def _is_at(violation: Violation, pointer: str, keyword: str) -> bool:
    return violation.keyword == keyword and violation.pointer == pointer


def closest_form(guide: Guide, union: Violation, choice: Sequence[int]) -> int:
    """The index of the branch with the fewest errors, and with the deepest of several."""

    def wrongness(index: int) -> tuple[bool, int, int, int, int]:
        branch = union.branches[index]
        facts = guide.facts(f"{union.schema_pointer}/{index}")
        known = members(union.instance).keys() & set(facts.demands.declared())
        return (
            any(_is_at(each, union.pointer, "type") for each in branch),
            sum(_count_errors(each) for each in branch),
            -len(known),
            -max((each.pointer.count("/") for each in branch), default=0),
            index,
        )

    return min(choice, key=wrongness)


def _count_errors(violation: Violation) -> int:
    """The number of errors; for a nested union that of its best branch."""
    if violation.branches:
        return min(sum(map(_count_errors, branch)) for branch in violation.branches)
    if violation.keyword == "unlisted":
        return count(violation.params.get("more")) or 0
    return max(1, len(elements(violation.params.get("unexpected"))))


def _form_by_discriminator(guide: Guide, union: Violation, value: Mapping[str, object]) -> IntendedForm | None:
    """The form that a field with fixed values names; None without such a field."""
    table = _discriminators(guide, union.schema_pointer, len(union.branches))
    for name, legal in table.items():
        if name not in value:
            continue
        fixed = [index for index, values in enumerate(legal) if values is not None]
        named = [index for index in fixed if any(same(value[name], each) for each in legal[index] or ())]
        if named:
            best = closest_form(guide, union, named)
            return IntendedForm(violations=union.branches[best])
        if len(fixed) == len(legal):
            values = unique(each for index in fixed for each in legal[index] or ())
            return IntendedForm(row="enum", member=name, values=tuple(values))
    for name, legal in table.items():
        missing = all(any(_is_missing(each, union, name) for each in branch) for branch in union.branches)
        if name not in value and missing and all(values is not None for values in legal):
            # The other members may identify the form; then the value of its field is known.
            fitting = [
                i for i, branch in enumerate(union.branches) if all(_is_missing(each, union, name) for each in branch)
            ]
            if len(fitting) == 1:
                return IntendedForm(violations=union.branches[fitting[0]])
            chosen = [values for index, values in enumerate(legal) if index in fitting or not fitting]
            return IntendedForm(
                row="required", member=name, values=tuple(unique(v for each in chosen for v in each or ()))
            )
    return None


def _is_missing(violation: Violation, union: Violation, name: str) -> bool:
    return _is_at(violation, union.pointer, "required") and violation.params.get("property") == name


def _discriminators(guide: Guide, pointer: str, size: int) -> Discriminators:
    """The fields that distinguish the forms of a union, each with its values in each form."""
    known = guide.discriminators.get(pointer)
    if known is not None:
        return known
    forms = [guide.facts(f"{pointer}/{index}") for index in range(size)]
    found: dict[str, list[Sequence[object] | None]] = {}
    for index, form in enumerate(forms):
        for name in form.demands.declared():
            values = form.member(name).values
            if values is not None and 0 < len(values) <= 50:
                found.setdefault(name, [None] * size)[index] = values
    discriminators = {
        name: legal
        for name, legal in found.items()
        if sum(values is not None for values in legal) > 1 and not all(legal[0] == values for values in legal)
    }
    # The field that most forms have comes first.
    ordered = dict(sorted(discriminators.items(), key=lambda pair: sum(values is None for values in pair[1])))
    guide.discriminators[pointer] = ordered
    return ordered


_SEPARATORS: Final = re.compile(r"[\s_.-]+")
_LONGEST: Final = 64
_MOST: Final = 500


def similar_strings(sent: str, candidates: Iterable[object]) -> tuple[str, ...]:
    """The candidates that `sent` probably misspells, the closest first: at most two, both equally close.

    Candidates that are not strings are ignored. Distances count insertions, deletions and replacements; one is allowed
    for three characters.

    >>> similar_strings("user_name", ["userName", "email"])
    ('userName',)
    """
    if not sent or len(sent) > _LONGEST:
        return ()
    plain = _normalize(sent)
    found: list[tuple[int, str]] = []
    for index, option in enumerate(candidates):
        if index >= _MOST:
            break
        if not isinstance(option, str) or not option or len(option) > _LONGEST:
            continue
        other = _normalize(option)
        if other == plain:
            found.append((0, option))
            continue
        allowed = max(len(plain), len(other)) // 3
        longer, shorter = (plain, other) if len(plain) > len(other) else (other, plain)
        if len(shorter) >= 4 and shorter in longer:
            found.append((1 + (len(longer) - len(shorter)) // 4, option))
        elif len(longer) - len(shorter) <= allowed and len(set(longer) - set(shorter)) <= allowed:
            distance = _distance(plain, other)
            if distance <= allowed:
                found.append((distance, option))
    if not found:
        return ()
    found.sort(key=lambda pair: pair[0])
    # A second one only if it is as close as the first.
    return tuple(option for distance, option in found[:2] if distance == found[0][0])


def _normalize(text: str) -> str:
    return (text if text.isalnum() else _SEPARATORS.sub("", text)).casefold()


def _distance(left: str, right: str) -> int:
    """The Levenshtein distance, bit-parallel (Myers 1999).

    A column of the matrix is two integers: a bit of `plus` (`minus`) is set if the distance grows (falls) by one
    from one row to the next. `_distance("cat", "cart")` reads c, a, r, t and adds one at `r`: 1.
    """
    size = len(left)
    if not size:
        return len(right)
    places: dict[str, int] = {}
    for index, character in enumerate(left):
        places[character] = places.get(character, 0) | 1 << index
    full = (1 << size) - 1
    top = 1 << (size - 1)
    plus, minus, distance = full, 0, size
    for character in right:
        equal = places.get(character, 0)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        up = minus | (full & ~(horizontal | plus))
        down = plus & horizontal
        if up & top:
            distance += 1
        elif down & top:
            distance -= 1
        up = (up << 1) | 1
        down <<= 1
        plus = full & (down | ~(vertical | up))
        minus = full & up & vertical
    return distance

"""How prompts are listed, and the results of prompts/get."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from toolvet.assess.rules.ending import NEEDS_MORE, outage_of_call, verdict_of
from toolvet.assess.rules.item import ListedItem, ObservedItems, ObservedRequest, Purpose, as_call
from toolvet.assess.rules.quote import judge_types, list_names, quote, repeated_entries, show, show_answer
from toolvet.assess.rules.rule import of_item, of_items, of_request
from toolvet.core.checks import LeakKind
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.findings import Card, Finding, Severity

PROMPT_ILLEGAL = Card(
    id="prompt-illegal",
    title="Invalid prompt in prompts/list",
    severity=Severity.ERROR,
    looks_for=(
        "An entry of prompts/list that is not an object, has no name, or has a field of a type that the protocol does "
        "not allow; arguments that are not an array of objects with names. Two arguments of one name are a warning."
    ),
    why="The official clients read the list as a whole: one entry that they cannot read makes them refuse all prompts.",
    remedy="Build prompts with the SDK or with its types, which refuse such an entry before it is sent.",
)
_TYPES_OF_FIELDS: Final[Mapping[str, type]] = {
    "title": str,
    "description": str,
    "icons": list,
    "_meta": dict,
}


@of_item(PROMPT_ILLEGAL)
def check_prompt_illegal(item: ListedItem) -> Iterator[Finding]:
    """Report what makes official clients refuse an entry, and the list with it."""
    if item.kind != "prompt":
        return
    entry = f"Entry {item.position + 1} of the list of prompts"
    if not is_object(item.raw):
        yield PROMPT_ILLEGAL.finding(message=f"{entry} is not an object.", evidence=show(item.raw))
        return
    raw = item.raw
    if not item.identity:
        problem = f"has the name {show(raw['name'])}" if "name" in raw else "has no name"
        yield PROMPT_ILLEGAL.finding(message=f"{entry} {problem}.", pointer="/name", evidence=show(raw, 160))
    yield from judge_types(PROMPT_ILLEGAL, raw, _TYPES_OF_FIELDS)
    arguments = raw.get("arguments")
    if arguments is not None and not is_array(arguments):
        yield PROMPT_ILLEGAL.finding(
            message="'arguments' must be an array.", pointer="/arguments", evidence=show(arguments)
        )
    for index, argument in enumerate(elements(arguments)):
        place = f"/arguments/{index}"
        if not is_object(argument):
            yield PROMPT_ILLEGAL.finding(
                message="An argument is not an object.", pointer=place, evidence=show(argument)
            )
            continue
        name, required, words = argument.get("name"), argument.get("required"), argument.get("description")
        if not isinstance(name, str) or not name:
            yield PROMPT_ILLEGAL.finding(
                message="An argument has no name.", pointer=f"{place}/name", evidence=show(argument)
            )
        if required is not None and not isinstance(required, bool):
            yield PROMPT_ILLEGAL.finding(
                message="'required' must be true or false.", pointer=f"{place}/required", evidence=show(required)
            )
        if words is not None and not isinstance(words, str):
            yield PROMPT_ILLEGAL.finding(
                message="'description' must be a string.", pointer=f"{place}/description", evidence=show(words)
            )
    counts = Counter(str(argument["name"]) for argument in item.arguments)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        yield PROMPT_ILLEGAL.finding(
            message=f"Several arguments are named {list_names(twice, 3)}.",
            severity=Severity.WARNING,
            pointer="/arguments",
        )


PROMPT_NAME_DUPLICATE = Card(
    id="prompt-name-duplicate",
    title="Two prompts have the same name",
    severity=Severity.ERROR,
    looks_for="A name that appears more than once in the list of prompts, over all pages.",
    why="Clients fetch a prompt by its name. Of two with one name only one can be fetched, and hosts show it twice.",
    remedy="Give each prompt a name of its own; where servers are mounted, give each a prefix.",
)


@of_items(PROMPT_NAME_DUPLICATE)
def check_prompt_name_duplicate(seen: ObservedItems) -> Iterator[Finding]:
    """One finding for each name; where pages repeat themselves, `pagination-broken` reports that."""
    if any(listing.kind == "prompt" and listing.pages > 1 for listing in seen.listings):
        return
    for name, entries in repeated_entries((item.identity, item.position) for item in seen.of("prompt")):
        yield PROMPT_NAME_DUPLICATE.finding(
            message=f"{len(entries)} prompts are named '{quote(name, 80)}'.",
            evidence=f"entries {', '.join(entries)} of the list",
            pointer="/name",
            item=("prompt", name),
        )


PROMPT_UNDESCRIBED = Card(
    id="prompt-undescribed",
    title="A prompt has no description",
    severity=Severity.INFO,
    looks_for="A prompt whose description is missing or blank.",
    why="People choose prompts from a menu. Without a description they see a name such as `plan_v2`.",
    remedy="Say in a sentence what the prompt is for. In the Python frameworks the docstring becomes the description.",
    many="{count} prompts have no description",
)


@of_item(PROMPT_UNDESCRIBED)
def check_prompt_undescribed(item: ListedItem) -> Iterator[Finding]:
    """Report a missing or blank description; `prompt-illegal` reports one of a wrong type."""
    if item.kind != "prompt" or not is_object(item.raw) or not isinstance(item.raw.get("description", ""), str | None):
        return
    if not item.text("description").strip():
        yield PROMPT_UNDESCRIBED.finding(message="The prompt has no description.", pointer="/description")


PROMPT_ARGUMENT_UNDESCRIBED = Card(
    id="prompt-argument-undescribed",
    title="Arguments of a prompt have no description",
    severity=Severity.INFO,
    looks_for="Arguments of a prompt without a description, where the prompt's own description does not name them.",
    why="People fill the arguments into a form that shows the name and the description, and nothing else.",
    remedy=(
        'Describe each argument: `Annotated[str, Field(description="...")]` in the Python frameworks, '
        '`z.string().describe("...")` in Zod.'
    ),
    many="{count} arguments of prompts have no description",
)


@of_item(PROMPT_ARGUMENT_UNDESCRIBED)
def check_prompt_argument_undescribed(item: ListedItem) -> Iterator[Finding]:
    """One finding per prompt, with all its undescribed arguments."""
    if item.kind != "prompt":
        return
    spoken = item.text("description").lower()
    lacking = [
        str(argument["name"])
        for argument in item.arguments
        if not str(argument.get("description") or "").strip() and str(argument["name"]).lower() not in spoken
    ]
    if lacking:
        total = len(item.arguments)
        many = f"{len(lacking)} of {total} arguments have no description"
        sentence = "The only argument has no description" if total == 1 else many
        yield PROMPT_ARGUMENT_UNDESCRIBED.finding(
            message=f"{sentence}: {list_names(lacking)}.", pointer="/arguments", occurrences=len(lacking)
        )


PROMPT_GET_FAILED = Card(
    id="prompt-get-failed",
    title="prompts/get fails",
    severity=Severity.ERROR,
    looks_for=(
        "A prompt without required arguments that is answered with an error. With arguments that the server itself "
        "completed, or with the text of a crash for arguments that were made up, it is a warning; any other refusal "
        "of made-up arguments is not a finding. A missing host or credential is reported as info."
    ),
    why="A user who picks the prompt gets an error instead of it.",
    remedy="Call prompts/get with the arguments of the report. Handle the case, or describe which values are allowed.",
)
_CRASH_LEAKS: Final = frozenset({LeakKind.STACK_TRACE, LeakKind.CRASH_TEXT})


@of_request(PROMPT_GET_FAILED)
def check_prompt_get_failed(request: ObservedRequest) -> Iterator[Finding]:
    """Judge by where the arguments came from."""
    if request.method != "prompts/get" or not request.is_valid or request.error is None:
        return
    if request.error.code in NEEDS_MORE:
        return
    call = as_call(request)
    verdict = verdict_of(call)
    crashed = verdict is not None and any(leak.kind in _CRASH_LEAKS for leak in verdict.leaks)
    if request.purpose is Purpose.GUESSED and not crashed:
        return
    missing = outage_of_call(call)
    severity = Severity.INFO if missing else None if request.purpose is Purpose.LISTED else Severity.WARNING
    yield PROMPT_GET_FAILED.finding(
        message=f'prompts/get fails with error {request.error.code}: "{quote(request.error.message, 140)}"',
        severity=severity,
        evidence=quote(request.error.message, 300),
        confidence=90 if request.purpose is Purpose.LISTED else 70,
    )


PROMPT_MALFORMED = Card(
    id="prompt-malformed",
    title="Invalid prompts/get result",
    severity=Severity.ERROR,
    looks_for=(
        "A result of prompts/get without an array `messages`; a message whose role is neither `user` nor `assistant`, "
        "or whose content is not one block of text, image, audio, resource or link. A prompt without messages, or with "
        "blank ones, is a warning."
    ),
    why="The official clients refuse such a result; a prompt without words does nothing when a user picks it.",
    remedy='Answer with `messages: [{role: "user", content: {type: "text", text: ...}}]`: one object, no array.',
)
_ROLES: Final = ("user", "assistant")
# The members that a block of each type must have, and of which type they are.
_FIELDS_OF_BLOCKS: Final[Mapping[str, Mapping[str, type]]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}


@of_request(PROMPT_MALFORMED)
def check_prompt_malformed(request: ObservedRequest) -> Iterator[Finding]:
    """Report the first fault of a result of prompts/get."""
    if request.method != "prompts/get" or not request.is_valid or not request.succeeded:
        return
    messages = members(request.result).get("messages")
    if not is_array(messages):
        yield PROMPT_MALFORMED.finding(
            message=f"The result has no array 'messages': {show_answer(request.result, 120)}",
            evidence=show_answer(request.result),
            pointer="/messages",
        )
        return
    for index, message in enumerate(messages):
        problem = _message_problem(message)
        if problem:
            yield PROMPT_MALFORMED.finding(
                message=f"A message {problem}.", evidence=show(message, 160), pointer=f"/messages/{index}"
            )
            return
    contents = [members(members(message).get("content")) for message in messages]
    if all(
        content.get("type") == "text" and isinstance(text := content.get("text"), str) and not text.strip()
        for content in contents
    ):
        yield PROMPT_MALFORMED.finding(
            message="The prompt has no messages." if not messages else "The messages of the prompt are blank.",
            severity=Severity.WARNING,
            evidence=show_answer(request.result),
            pointer="/messages",
        )


def _message_problem(message: object) -> str:
    if not is_object(message):
        return "is not an object"
    if message.get("role") not in _ROLES:
        return f"has the role {show(message.get('role'))}" if "role" in message else "has no role"
    content = message.get("content")
    if is_array(content):
        return "has an array as its content, and one block is allowed"
    if not is_object(content):
        return f"has {show(content)} as its content, and not a block" if "content" in message else "has no content"
    kind = content.get("type")
    wanted = _FIELDS_OF_BLOCKS.get(kind) if isinstance(kind, str) else None
    if wanted is None:
        return f"has content of the type {show(kind)}"
    lacking = [name for name, type_ in wanted.items() if not isinstance(content.get(name), type_)]
    return f"has content of the type '{kind}' without '{lacking[0]}'" if lacking else ""


PROMPT_REQUIRED_ACCEPTED = Card(
    id="prompt-required-accepted",
    title="A prompt is returned without a required argument",
    severity=Severity.WARNING,
    looks_for="A success of prompts/get without an argument that the list declares as required.",
    why="The prompt then says `undefined` or nothing where the user's word belongs, and a model answers that.",
    remedy="Answer with -32602 and the name of the argument, or declare it as optional and describe what happens.",
)


@of_request(PROMPT_REQUIRED_ACCEPTED)
def check_prompt_required_accepted(request: ObservedRequest) -> Iterator[Finding]:
    """Report a success without the argument that was left out."""
    if request.purpose is Purpose.MISSING_ARGUMENT and request.succeeded:
        yield PROMPT_REQUIRED_ACCEPTED.finding(
            message=f"The prompt requires '{quote(request.missing, 60)}', and is returned without it.",
            evidence=show_answer(request.result, 300),
            pointer="/arguments",
            cause="a required argument is not asked for",
        )


PROMPT_ABSENT_ANSWER = Card(
    id="prompt-absent-answer",
    title="A prompt that does not exist is not answered with error -32602",
    severity=Severity.ERROR,
    looks_for=(
        "The answer to prompts/get for a name that is not in the list. The protocol wants the error -32602; another "
        "code is reported as info, because SDKs choose it."
    ),
    why="To a client an unknown prompt means that its list is out of date. A success hides that.",
    remedy="Raise an error for names that you do not know, with the code -32602.",
    is_of_sdk=True,
)


@of_items(PROMPT_ABSENT_ANSWER)
def check_prompt_absent_answer(seen: ObservedItems) -> Iterator[Finding]:
    """Judge the answer by how well a client sees that there is no such prompt."""
    for request in seen.asked(Purpose.ABSENT):
        if request.method != "prompts/get":
            continue
        if request.succeeded:
            yield PROMPT_ABSENT_ANSWER.finding(
                message=f"A prompt that does not exist is answered with {show_answer(request.result, 100)}",
                evidence=show_answer(request.result),
            )
        elif request.error is not None and request.error.code != -32602:
            yield PROMPT_ABSENT_ANSWER.finding(
                message=(
                    f"A prompt that does not exist is answered with error {request.error.code} instead of "
                    f'-32602: "{quote(request.error.message, 120)}"'
                ),
                severity=Severity.INFO,
                evidence=quote(request.error.message),
            )

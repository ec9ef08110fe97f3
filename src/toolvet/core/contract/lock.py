"""`Lock`: a server's promises as a document. The same promises give the same document, and it reads well in a diff."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.json_value import elements, is_endless, is_object, members
from toolvet.core.redact import SecretMask
from toolvet.core.schema import depth
from toolvet.errors import UsageError

Kind: TypeAlias = Literal["tool", "prompt", "resource", "resource_template", "skill"]
FORMAT: Final = "toolvet-lock/1"
# The member of the document that lists each kind, and the member of a definition that names it.
KINDS: Final[Mapping[Kind, tuple[str, str]]] = {
    "tool": ("tools", "name"),
    "prompt": ("prompts", "name"),
    "resource": ("resources", "uri"),
    "resource_template": ("resource_templates", "uriTemplate"),
    "skill": ("skills", "uri"),
}
# Parts that mean nothing to a caller, or differ from run to run.
_DEEPEST: Final = 200
_PASSING: Final = frozenset({"_meta", "size", "lastModified"})


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """The definitions of a server, by kind, each sorted by its name and without secrets. `lock_of` makes one.

    `contracts` are outputSchemas that the server does not declare: each has the `name` of the tool, the `outputSchema`
    that its results kept, and the number of `results`.
    """

    format: str = FORMAT
    server: Mapping[str, object] = {}
    tools: Sequence[Mapping[str, object]] = ()
    prompts: Sequence[Mapping[str, object]] = ()
    resources: Sequence[Mapping[str, object]] = ()
    resource_templates: Sequence[Mapping[str, object]] = ()
    skills: Sequence[Mapping[str, object]] = ()
    contracts: Sequence[Mapping[str, object]] = ()

    def contract_of(self, tool: str) -> Mapping[str, object] | None:
        """The schema that the results of a tool kept in a record (`toolvet contract`); None without one."""
        found = next((each for each in self.contracts if each.get("name") == tool), None)
        return None if found is None else members(found.get("outputSchema"))

    def listed(self, kind: Kind) -> Sequence[Mapping[str, object]]:
        """The definitions of one kind."""
        found: Sequence[Mapping[str, object]] = getattr(self, KINDS[kind][0])
        return found


def name_of(kind: Kind, definition: object) -> str:
    """The name by which a lock knows a definition: of resources it is the URI."""
    found = members(definition).get(KINDS[kind][1])
    return found if isinstance(found, str) else ""


def lock_of(
    tools: Iterable[object] = (),
    prompts: Iterable[object] = (),
    resources: Iterable[object] = (),
    resource_templates: Iterable[object] = (),
    server: object = None,
    *,
    skills: Iterable[object] = (),
    contracts: Iterable[object] = (),
) -> Lock:
    """Return the lock of a server's lists. Never raises: of two entries with one name, the second is left out.

    >>> lock_of([{"name": "b"}, {"name": "a", "description": "Finds."}]).tools[0]["name"]
    'a'
    """
    lists: dict[Kind, Iterable[object]] = {
        "tool": tools,
        "prompt": prompts,
        "resource": resources,
        "resource_template": resource_templates,
        "skill": skills,
    }
    kept: dict[str, object] = {"contracts": _sorted("tool", contracts)}
    for kind, (member, _) in KINDS.items():
        kept[member] = _sorted(kind, lists[kind])
    about = {key: value for key, value in members(server).items() if key in ("name", "version")}
    return msgspec.convert({"server": about, **kept}, decodable(Lock))


def _sorted(kind: Kind, definitions: Iterable[object]) -> tuple[Mapping[str, object], ...]:
    found: dict[str, Mapping[str, object]] = {}
    for each in definitions:
        name = name_of(kind, each)
        if name and is_object(each) and name not in found:
            plain = {key: value for key, value in each.items() if key not in _PASSING}
            if depth(plain, _DEEPEST) >= _DEEPEST or is_endless(plain):
                plain = {KINDS[kind][1]: name, "not_kept": "nested too deeply"}
            found[name] = members(SecretMask.learned(plain).value(plain))
    return tuple(found[name] for name in sorted(found))


def write_lock(lock: Lock) -> str:
    """Return the document as text: two spaces, members in order, one line for each value."""
    # `required` and `enum` keep the author's order, which models read.
    document = {key: value for key, value in msgspec.to_builtins(lock).items() if value or key != "contracts"}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_lock(text: str | bytes) -> Lock:
    """Return the lock that `write_lock` wrote. Raises UsageError for anything else."""
    try:
        found = msgspec.json.decode(text, type=decodable(Lock))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(f"not a lock file: {error}") from error
    if found.format != FORMAT:
        raise UsageError(f"the lock file has the format {found.format!r}; this toolvet reads {FORMAT}")
    return lock_of(
        elements(found.tools),
        elements(found.prompts),
        elements(found.resources),
        elements(found.resource_templates),
        found.server,
        skills=elements(found.skills),
        contracts=elements(found.contracts),
    )

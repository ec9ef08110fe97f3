"""An announcement that was meant and is none: what is wrong with it, so that nobody takes it for silence."""

from toolvet.checks.capability.announcement import EXPERIMENTAL_KEY, EXTENSION_ID, announcement
from toolvet.checks.capability.foreign_json import plain
from toolvet.schema.json_value import is_object, members


def misannounced(capabilities: object) -> str | None:
    """Why the `toolValidation` in a server's capabilities announces nothing, in a sentence.

    None when it is announced as it should be, denied (`supported: false`), or not there at all. Total.
    """
    if announcement(capabilities) is not None:
        return None
    try:
        found = members(plain(capabilities))
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return None
    for home, key in (("experimental", EXPERIMENTAL_KEY), ("extensions", EXTENSION_ID)):
        said = members(found.get(home))
        if key in said and (problem := _problem(said[key])) is not None:
            return f"{home}.{key} {problem}"
    return None


def _problem(options: object) -> str | None:
    if not is_object(options):
        return 'is no object, so official clients fail to connect; it should be {"supported": true}.'
    if "supported" not in options:
        return 'does not say whether it is supported; it should have "supported": true.'
    if isinstance(options["supported"], bool):
        return None
    return "has a 'supported' that is neither true nor false."

"""The known people: those of the settings file with their tokens, and the user of this machine."""

import getpass
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

from toolvet.errors import UsageError
from toolvet.server.access.role import Person, Role, role_of
from toolvet.server.settings import PersonSettings

_PREFIX: Final = "tvt_"
_SHA256: Final = 64
# 256 bits in base64.
_RANDOM_LENGTH: Final = 43


class People:
    """Finds the person of a token or of an email address.

    Args:
        known: The people of the settings.
        token: A token given on the command line or by the environment; who has it is an admin named "admin".
        local: The sender of a request without any credentials; None if credentials are needed.

    Raises:
        UsageError: For a name or a token that stands for two people, and for a hash that is none.
    """

    def __init__(
        self, known: Iterable[PersonSettings] = (), *, token: str | None = None, local: Person | None = None
    ) -> None:
        self.local = local
        self._by_hash: list[tuple[str, Person]] = []
        self._by_email: dict[str, Person] = {}
        names: set[str] = set()
        for each in known:
            if not each.name or each.name in names:
                raise UsageError(f"serve.people: the name {each.name!r} must be there once")
            names.add(each.name)
            person = Person(each.name, role_of(each.role))
            if each.token_sha256:
                digest = each.token_sha256.lower()
                if len(digest) != _SHA256 or set(digest) - set("0123456789abcdef"):
                    raise UsageError(f"serve.people: token_sha256 of {each.name} is not a SHA-256 in hexadecimal")
                self._by_hash.append((digest, person))
            if each.email:
                self._by_email[each.email.lower()] = person
        if token is not None:
            self._by_hash.append((_hashed(checked_token(token)), Person("admin", Role.ADMIN)))
        hashes = [hashed for hashed, _ in self._by_hash]
        if len(set(hashes)) != len(hashes):
            raise UsageError("serve.people: two people have the same token")

    @property
    def has_credentials(self) -> bool:
        """Whether anybody could log in with a token."""
        return bool(self._by_hash)

    @property
    def tokens(self) -> list[tuple[str, str, str]]:
        """The name and role of each person with a token, and its hash."""
        return [(person.name, person.role.word, digest) for digest, person in self._by_hash]

    def by_token(self, token: str) -> Person | None:
        """Return who has this token. It takes equally long for every token."""
        offered = _hashed(token)
        found: Person | None = None
        for digest, person in self._by_hash:
            if hmac.compare_digest(digest, offered):
                found = person
        return found

    def by_email(self, email: str) -> Person | None:
        """Return who has this email address, in any case of letters."""
        return self._by_email.get(email.lower())

    def by_name(self, name: str) -> Person | None:
        """Return the person of this name, as a session remembers it: with the role that they have now."""
        everybody = [person for _, person in self._by_hash] + list(self._by_email.values())
        if self.local is not None:
            everybody.append(self.local)
        return next((person for person in everybody if person.name == name), None)


def person_at_this_machine() -> Person:
    """Return the user of this machine, who may do everything: every process on the loopback reads the store anyway."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        name = "you"
    return Person(name, Role.ADMIN)


def new_token() -> str:
    """Return a new token, of 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def is_generated(token: str) -> bool:
    """Whether a token has the form of those that `new_token` makes."""
    return token.startswith(_PREFIX) and len(token) == len(_PREFIX) + _RANDOM_LENGTH


def token_hash(token: str) -> str:
    """Return what stands for a token in the settings file."""
    return _hashed(token)


def checked_token(token: str) -> str:
    """Return the token. Raises UsageError for one that could be guessed or that no header can carry."""
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("the token must have at least 16 characters, all of them printable ASCII without spaces")
    return token


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

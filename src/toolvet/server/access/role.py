"""Who is asking, and what they may do."""

from enum import IntEnum

import msgspec


class Role(IntEnum):
    """The rights of a person; each role includes those before it.

    A viewer reads and checks. A reviewer labels too. An admin may also delete, import and read the audit log.
    """

    VIEWER = 1
    REVIEWER = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        """The role's name, as settings and pages write it."""
        return self.name.lower()


def role_of(word: str) -> Role:
    """Return the role of this name.

    >>> role_of("viewer") < Role.REVIEWER
    True
    """
    return Role[word.upper()]


class Person(msgspec.Struct, frozen=True):
    """A sender of requests: a person in a browser, or a program with a token."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether this person has at least this role."""
        return self.role >= role

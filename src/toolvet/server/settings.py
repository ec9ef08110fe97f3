"""`[serve]` and `[review]` of a settings file."""

from typing import ClassVar, Final, Literal

import msgspec

from toolvet.store.alerts import AlertRule


class PersonSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[serve.people]]`: a name, a role, and the SHA-256 of the person's token (`toolvet serve token` makes both).

    The token itself is in no file: it has 256 random bits, so its plain hash gives nothing away.
    """

    name: str
    role: Literal["viewer", "reviewer", "admin"] = "viewer"
    token_sha256: str = ""
    email: str = ""


class OidcSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[serve.oidc]`: an identity provider that people log in with.

    `url` is how browsers reach this server. The client's secret is in the environment, under the name
    `client_secret_env`. `emails` has addresses (or `@domain`) by their role, `roles` the values of the claim
    `role_claim`; whom neither names, and no email of `[[serve.people]]`, has no access.
    """

    issuer: str
    client_id: str
    url: str
    client_secret_env: str = "TOOLVET_OIDC_SECRET"  # noqa: S105 - the name of a variable
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    role_claim: str = "groups"
    roles: dict[Literal["viewer", "reviewer", "admin"], tuple[str, ...]] = {}
    emails: dict[Literal["viewer", "reviewer", "admin"], tuple[str, ...]] = {}


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[serve]`: the options of `toolvet serve` under the names of its flags, and who may log in. None: not set."""

    SEE: ClassVar = "`toolvet serve --help` for the options there are"

    host: str | None = None
    port: int | None = None
    allow_host: tuple[str, ...] = ()
    https: bool | None = None
    requests_per_minute: int | None = None
    people: tuple[PersonSettings, ...] = ()
    oidc: OidcSettings | None = None
    alerts: tuple[AlertRule, ...] = ()


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[review.queue]]`: a rule that fills the review queue, with the members of `toolvet.server.review.QueueRule`."""

    name: str
    kind: Literal["call", "arguments", "result", "envelope", "answer"] | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    signal: str | None = None
    failed: bool | None = None
    escalated: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    disagreement: bool = False
    share: float = 1.0
    priority: int = 0
    reviewers: int = 1


class ReviewSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[review]`: what fills the review queue, and for how many minutes a reviewer has an item. None: not set."""

    SEE: ClassVar = "docs/review.md has the members of a rule"

    queue: tuple[QueueSettings, ...] | None = None
    lease_minutes: float | None = None


SECTIONS: Final = {"review": ReviewSettings, "serve": ServeSettings}

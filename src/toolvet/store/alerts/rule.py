"""`AlertRule`: what is measured, over how long, and from when on it is an alert. It is `[[serve.alerts]]` as well."""

import re
from typing import Final, Literal, TypeAlias

import msgspec

AlertMeasure: TypeAlias = Literal["escalation_rate", "failure_rate", "average_score", "verdicts"]
"""What is compared with a threshold: a share of the verdicts, their mean score, or how many there are."""

_MOST_MINUTES: Final = 7 * 24 * 60
# How far the way back is, where the rule does not say it.
_BACK: Final = 0.9
_WEBHOOK: Final = re.compile(r"https?://[^/\s?#]+(?:[/?][^\s#]*)?", re.IGNORECASE)


class AlertRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to raise an alert, and when to take it back.

    Attributes:
        name: Names the alert everywhere; a state is kept under it.
        measure: What is measured, over the verdicts of the last `window` minutes.
        above: It is an alert above this. Give `above` or `below`.
        below: It is an alert below this.
        clear: The alert ends at this value: for `above` it is at most that, for `below` at least. None is a tenth of
            the way back.
        window: Over how many whole minutes the verdicts are added up.
        lasting: For how many minutes the value must be beyond the threshold first.
        least: With fewer verdicts in the window nothing changes: so few prove nothing. Not for `verdicts`.
        kind: Only verdicts of this kind; `server`, `tool`, `model` and `variant` likewise.
        webhook: The http or https URL that gets a POST when the alert begins and when it ends.
        webhook_env: The variable of the environment that has this URL, where the URL itself is secret.
        secret_env: The variable of the environment with the key that signs what is sent.

    Raises:
        ValueError: The members contradict each other.

    >>> AlertRule(name="escalations", measure="escalation_rate", above=0.2).end
    0.18
    """

    name: str
    measure: AlertMeasure
    above: float | None = None
    below: float | None = None
    clear: float | None = None
    window: int = 5
    lasting: int = 0
    least: int = 20
    kind: str | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    webhook: str | None = None
    webhook_env: str | None = None
    secret_env: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not self.name.strip() or not self.name.isprintable():
            raise ValueError("name must be a word that names the alert")
        if (self.above is None) == (self.below is None):
            raise ValueError(f"{self.name} needs 'above' or 'below', and not both")
        if self.above is not None and self.end > self.above:
            raise ValueError(f"{self.name} has 'clear' above 'above': it could never stay")
        if self.below is not None and self.end < self.below:
            raise ValueError(f"{self.name} has 'clear' below 'below': it could never stay")
        if not 1 <= self.window <= _MOST_MINUTES or not 0 <= self.lasting <= _MOST_MINUTES:
            raise ValueError(f"{self.name}: 'window' is 1 to {_MOST_MINUTES} minutes, 'lasting' 0 to {_MOST_MINUTES}")
        if self.least < 0:
            raise ValueError(f"{self.name} has 'least' below 0")
        if self.webhook is not None and self.webhook_env is not None:
            raise ValueError(f"{self.name} has 'webhook' and 'webhook_env': give one of them")
        if self.webhook is not None:
            check_webhook(self.webhook)

    @property
    def threshold(self) -> float:
        """The value from which on it is an alert."""
        return self.above if self.above is not None else self.below or 0.0

    @property
    def end(self) -> float:
        """The value at which an alert ends."""
        if self.clear is not None:
            return self.clear
        return round(self.threshold * _BACK if self.above is not None else self.threshold / _BACK, 6)

    def is_beyond(self, value: float) -> bool:
        """Whether a value is one for an alert."""
        return value > self.above if self.above is not None else value < self.threshold

    def is_clear(self, value: float) -> bool:
        """Whether a value ends an alert."""
        return value <= self.end if self.above is not None else value >= self.end


def check_webhook(url: str) -> None:
    """Raise ValueError for what is no http or https URL; its words do not have the URL, which may be secret."""
    if _WEBHOOK.fullmatch(url) is None:
        raise ValueError("a webhook is an http:// or https:// URL with a host")

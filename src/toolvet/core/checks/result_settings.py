"""`[checks.result]` of a settings file: the user's own words and rules for results. Reading them loads no check.

[checks.result]
extra_patterns = ["insufficient margin"]           # the words of a business error
thresholds = { validation_expected = 0.2, other = 0.5 }

[checks.result.tools."delete_*"]                   # a shell pattern; an exact name wins over patterns
any_response = true

[checks.result.tools.get_status]                   # its name sounds as if it checked what it is given
expects_validation = false
"""

import msgspec


class RegexEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    r"""A regular expression where plain words would do as well: `{ regex = 'E\\d{4}' }`."""

    regex: str


OwnText = str | RegexEntry


class FactorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A factor of the user's own: `{ pattern = "ledger", weight = 2 }`."""

    pattern: OwnText
    weight: int = 1


class ToolResultSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The user's settings for the results of some tools: the options of `check_result`, None for each one not set."""

    extra_patterns: tuple[OwnText, ...] | None = None
    strong_patterns: tuple[OwnText, ...] | None = None
    failure_patterns: tuple[OwnText, ...] | None = None
    exceptions: tuple[OwnText, ...] | None = None
    factors: dict[str, FactorEntry] | None = None
    weights: dict[str, int] | None = None
    threshold: float | None = None
    thresholds: dict[str, float] | None = None
    expects_validation: bool | None = None
    any_response: bool | None = None


class ResultSettings(ToolResultSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same for all tools, and under `tools` for those whose names match.

    `draft_outputs` reads results with `outputs` (SEP-3279, a draft of MCP).
    """

    tools: dict[str, ToolResultSettings] = {}
    draft_outputs: bool = False

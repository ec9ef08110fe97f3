"""The options that all of `toolvet review` have."""

from typing import Annotated, TypeAlias

from cyclopts import Parameter

StoreOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        env_var="TOOLVET_STORE",
        help="The SQLite file or PostgreSQL URL. [default: `store` in toolvet.toml, else toolvet.db]",
    ),
]

ReviewerOption: TypeAlias = Annotated[
    str | None,
    Parameter(env_var="TOOLVET_REVIEWER", help="Whose labels these are. [default: the user of this machine]"),
]

JsonOption: TypeAlias = Annotated[bool, Parameter(negative="", help="JSON on stdout.")]

ItemArgument: TypeAlias = Annotated[
    str, Parameter(help="The id of the item, which is that of its verdict; `mine` for the one that you have.")
]

"""The options that all of `toolvet store` have."""

from typing import Annotated, TypeAlias

from cyclopts import Parameter

StoreOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        env_var="TOOLVET_STORE",
        help="The SQLite file or PostgreSQL URL. [default: `store` in toolvet.toml, else toolvet.db]",
    ),
]

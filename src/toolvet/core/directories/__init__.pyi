# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.directories.rules import (
    Directory as Directory,
    DirectoryRule as DirectoryRule,
    HintEvidence as HintEvidence,
    Weight as Weight,
    directory as directory,
    directory_names as directory_names,
    unmet as unmet,
)

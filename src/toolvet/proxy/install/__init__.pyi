# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.install.edit import (
    Edit as Edit,
    Path as Path,
    apply_edits as apply_edits,
    split_mark as split_mark,
)
from toolvet.proxy.install.entries import (
    Change as Change,
    InstallPlan as InstallPlan,
    Wrapper as Wrapper,
)
from toolvet.proxy.install.file import (
    backup_of as backup_of,
    install as install,
    name_file as name_file,
    planned as planned,
    read_backup as read_backup,
    read_file as read_file,
    uninstall as uninstall,
    write_file as write_file,
)

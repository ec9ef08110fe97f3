# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.discover import prepared as prepared
from toolvet.core.discover.cache import (
    cached as cached,
    entries_of as entries_of,
    fingerprint as fingerprint,
    keep as keep,
)
from toolvet.core.discover.files import (
    LONGEST_LINE as LONGEST_LINE,
    FileState as FileState,
    beside as beside,
    data_file as data_file,
    data_files as data_files,
    file_state as file_state,
    file_states as file_states,
    files_of as files_of,
    is_installed as is_installed,
    module_names as module_names,
    module_state as module_state,
    modules as modules,
    of_each_wing as of_each_wing,
    read_user_file as read_user_file,
    settings_file as settings_file,
    states_of as states_of,
    text_lines as text_lines,
)
from toolvet.core.discover.toml import (
    decode_toml as decode_toml,
    read_toml as read_toml,
)

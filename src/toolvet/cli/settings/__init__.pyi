# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.cli.settings.content import (
    AnswerSettings as AnswerSettings,
    ArgumentSettings as ArgumentSettings,
    AssessSettings as AssessSettings,
    CheckSettings as CheckSettings,
    OidcSettings as OidcSettings,
    PersonSettings as PersonSettings,
    QueueSettings as QueueSettings,
    ReviewSettings as ReviewSettings,
    ServeSettings as ServeSettings,
    Settings as Settings,
    StoreSettings as StoreSettings,
    line_of as line_of,
    load_settings as load_settings,
    load_wording as load_wording,
)
from toolvet.cli.settings.file import settings_file as settings_file
from toolvet.cli.settings.hook import HookSettings as HookSettings

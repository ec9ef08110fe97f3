"""axe-core over a page, as the accessibility tools of browsers run it."""

from importlib.resources import files
from typing import Final

from playwright.sync_api import Page

_SERIOUS: Final = frozenset({"serious", "critical"})


def faults(page: Page) -> list[str]:
    """Return what axe-core finds that is serious or critical: rule, what to do, and where."""
    # The package carries axe-core itself; evaluated by the browser's debugger, it passes the content security policy.
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{each['id']}: {each['help']}: {', '.join(str(node['target']) for node in each['nodes'][:5])}"
        for each in found
        if each["impact"] in _SERIOUS
    ]

"""The import paths that the documentation names stay, and our keys in `_meta` share one prefix."""

from importlib import import_module

import pytest

from toolvet.agents.integrations import enveloped
from toolvet.core.checks import arguments, capability

PATHS = {
    "toolvet.agents.integrations": ("Problem", "ToolValidation"),
    "toolvet.agents.integrations.embedding": ("WordLlamaEmbedder",),
    "toolvet.agents.integrations.enveloped": (
        "META_KEY",
        "Answer",
        "Errors",
        "enveloped",
        "placed",
        "prose",
        "to_result",
    ),
    "toolvet.agents.integrations.enveloped.retrieval": ("enable_retrieval",),
    "toolvet.agents.integrations.fastmcp": ("ToolValidationMiddleware", "enable_validation"),
    "toolvet.agents.integrations.proxy.fastmcp": ("ProxyMiddleware",),
    "toolvet.agents.integrations.proxy.sdk": ("ProxyMiddleware",),
    "toolvet.agents.integrations.sdk": ("ToolValidationMiddleware", "enable_validation"),
    "toolvet.agents.integrations.validation": ("Problem", "ToolValidation"),
    "toolvet.agents.integrations.validation.answer": ("answered",),
}


@pytest.mark.parametrize("module", PATHS)
def test_a_documented_import_path_has_its_names(module: str) -> None:
    found = import_module(module)
    assert [name for name in PATHS[module] if not hasattr(found, name)] == []


@pytest.mark.parametrize("key", [arguments.META_KEY, capability.EXTENSION_ID, enveloped.META_KEY])
def test_a_key_of_ours_in_meta_has_our_prefix(key: str) -> None:
    prefix, _, name = key.partition("/")
    assert prefix == "dev.toolvet"
    assert name

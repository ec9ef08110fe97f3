"""The import paths that the documentation names stay, and our keys in `_meta` share one prefix."""

from importlib import import_module

import pytest

from toolvet.checks import arguments, capability
from toolvet.integrations import enveloped

PATHS = {
    "toolvet.integrations": ("Problem", "ToolValidation"),
    "toolvet.integrations.embedding": ("WordLlamaEmbedder",),
    "toolvet.integrations.enveloped": ("META_KEY", "Answer", "Errors", "enveloped", "placed", "prose", "to_result"),
    "toolvet.integrations.enveloped.retrieval": ("enable_retrieval",),
    "toolvet.integrations.fastmcp": ("ToolValidationMiddleware", "enable_validation"),
    "toolvet.integrations.proxy.fastmcp": ("ProxyMiddleware",),
    "toolvet.integrations.proxy.sdk": ("ProxyMiddleware",),
    "toolvet.integrations.sdk": ("ToolValidationMiddleware", "enable_validation"),
    "toolvet.integrations.validation": ("Problem", "ToolValidation"),
    "toolvet.integrations.validation.answer": ("answered",),
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

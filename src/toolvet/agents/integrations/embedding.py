"""A sentence-embedding model that runs locally, without a network, for `toolvet.core.turn.consistency`.

Needs the extra `semantics`. Its wheel holds the model (16 MB, MIT): static vectors of 256
numbers, trained for English. Any other model can be used behind the one method of
`toolvet.core.turn.consistency.Embedder`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from toolvet.errors import UsageError
from toolvet.version import requirement

__all__ = ["WordLlamaEmbedder"]


class WordLlamaEmbedder:
    """The model in WordLlama's wheel; loaded once per process, in about a second.

    Raises UsageError if the extra is not installed, or its wheel holds no model.

    Example:
        >>> [vector] = WordLlamaEmbedder().embed(["The flight is booked."])
        >>> len(vector)
        256
    """

    def __init__(self) -> None:
        self._model = _load_model()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of 256 numbers for each text; a lone surrogate in a text counts as a question mark."""
        if not texts:
            return []
        # The tokenizer refuses lone surrogates.
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        vectors: list[list[float]] = self._model.embed(readable).tolist()
        return vectors


@cache
def _load_model() -> Any:
    try:
        # Heavy (NumPy, requests, pydantic), and only there with the extra.
        wordllama: Any = import_module("wordllama")
    except ImportError as error:
        raise UsageError(f'the embedding model is missing: pip install "{requirement("semantics")}"') from error
    try:
        # Its own search for the wheel's tokenizer looks in a folder of another name, and would download; the folder of
        # the package as its cache has both files.
        return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"the embedding model cannot be loaded: {error}") from error

"""The protocol of sentence-embedding models, and how near two of their vectors are."""

import math
from collections.abc import Sequence
from operator import mul
from typing import Literal, Protocol

State = Literal["checked", "off", "not_judged"]
"""`off`: no model, or it failed; `not_judged`: the texts give the model too little to go by."""

OFF = "No embedding model was given, so this was not checked (see toolvet.agents.integrations.embedding)."

Vector = Sequence[float]


class Embedder(Protocol):
    """A model that turns texts into vectors, in which near means alike."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of the same length; they need not be normalised."""
        ...


class EmbedderFailed(Exception):  # noqa: N818 - it never leaves this package.
    """The model raised, or answered with something other than one vector for each text."""


def embed(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """A vector of length 1 for each text (all zero where the model sees nothing in it); raises `EmbedderFailed`."""
    if not texts:
        return []
    try:
        vectors = [[float(value) for value in vector] for vector in embedder.embed(texts)]
    except Exception as error:  # A model is foreign code, and may raise anything.
        raise EmbedderFailed(f"The embedding model failed: {type(error).__name__}: {error}") from error
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
        raise EmbedderFailed("The embedding model did not give one vector of the same length for each text.")
    return [_unit(vector) for vector in vectors]


def similarity(one: Vector, two: Vector) -> float:
    """The cosine of two unit vectors, -1 to 1."""
    return math.fsum(map(mul, one, two))


def _unit(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(map(mul, vector, vector)))
    if not length or not math.isfinite(length):
        return [0.0] * len(vector)
    return [value / length for value in vector]

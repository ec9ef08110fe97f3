"""The benchmark of words: how far the error text of a library takes a healer that knows neither schema nor task."""

"""What is wrong with a request's values, in words for whoever sent them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# By pydantic's name of the fault; {…} is of what it tells besides.
WORDS: Mapping[str, str] = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "int_type": "it must be a whole number",
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "int_parsing_size": "it is too large a number",
    "float_type": "it must be a number",
    "float_parsing": "it must be a number",
    "finite_number": "it must be a number that ends",
    "bool_type": "it must be true or false",
    "bool_parsing": "it must be true or false",
    "string_type": "it must be a text",
    "string_unicode": "it has characters that no text may have",
    "string_too_long": "it has more than {max_length} characters",
    "string_too_short": "it has fewer than {min_length} characters",
    "list_type": "it must be a list",
    "too_long": "it has more than {max_length} entries",
    "too_short": "it has fewer than {min_length} entries",
    "dict_type": "it must be an object",
    "model_type": "it must be an object",
    "model_attributes_type": "it must be an object",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
    "enum": "it must be one of {expected}",
    "literal_error": "it must be one of {expected}",
    "json_invalid": "it is no JSON",
}
LONGEST_PLACE = 80
LONGEST_SENTENCE = 1000
# Where a value may be of several types, its place ends with the one that was tried.
TYPES = ("int", "float", "str", "bool")


def words(faults: Sequence[Any]) -> str:
    """Where the first fault stands, and what it is."""
    first = faults[0] if faults else {}
    named = (str(part) for part in first.get("loc", ()) if part not in TYPES)
    place = ".".join(named)[:LONGEST_PLACE]
    told = WORDS.get(first.get("type", ""), "it cannot be used")
    return f"{readable(place) or 'its body'}: {told.format_map(first.get('ctx', {}))}"


def sentence(error: Exception) -> str:
    """What an error says; what somebody sent may be long, and is cut where it is repeated."""
    said, half = readable(str(error)), LONGEST_SENTENCE // 2
    return said if len(said) <= LONGEST_SENTENCE else f"{said[:half]} … {said[-half:]}"


def readable(text: str) -> str:
    """The text with what cannot be sent as text spelled out, such as half a character."""
    return text.encode("utf-8", "backslashreplace").decode()

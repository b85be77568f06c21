"""What the values of settings may be, and how a setting gets its meaning."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from batchcrawl.job.units import GB, KB, MB, YEAR

Seconds = Annotated[float, Meta(ge=0, le=10 * YEAR, extra={"unit": "duration"})]
SomeSeconds = Annotated[float, Meta(ge=0.001, le=10 * YEAR, extra={"unit": "duration"})]
WholeSeconds = Annotated[float, Meta(ge=1, le=10 * YEAR, extra={"unit": "duration"})]
Bytes = Annotated[int, Meta(ge=KB, le=1000 * GB, extra={"unit": "size"})]
Space = Annotated[int, Meta(ge=0, le=1000 * GB, extra={"unit": "size"})]
Memory = Annotated[int, Meta(ge=16 * MB, le=1000 * GB, extra={"unit": "size"})]
Speed = Annotated[int, Meta(ge=0, le=GB, extra={"unit": "size"})]
Count = Annotated[int, Meta(ge=1, le=10**12)]
Pattern = Annotated[str, Meta(min_length=1, max_length=500)]
UrlText = Annotated[str, Meta(min_length=1, max_length=64 * KB)]
ShortText = Annotated[str, Meta(min_length=1, max_length=500)]


def means(text: str, *, example: Any = None) -> Meta:
    """Return the mark that gives a setting its meaning and, where the default is empty, an example.

    The example is a value as a job file says it. New job files show both.
    """
    return Meta(description=text, examples=None if example is None else [example])


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every section of a job file."""

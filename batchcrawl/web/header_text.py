"""The text of a header field's value."""


def as_utf8(value: str) -> str:
    """Return a value that was decoded as latin-1 as UTF-8 where its bytes are that, as browsers read a Location."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return value

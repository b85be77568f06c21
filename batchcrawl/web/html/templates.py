"""Templates and noscripts that the parser does not end where a browser does.

It ignores an end tag while an element is open within that it holds to be more important, as a div: then all the rest
of the page would be hidden.
"""

import re


def has_more_behind_template(text: str) -> bool:
    """Tell whether there are links or words behind the last end tag of a template or noscript."""
    end = max((found.end() for found in _END.finditer(text)), default=len(text))
    rest = _UNSEEN.sub("", text[end:])
    return "href" in rest.lower() or bool(_TAG.sub("", rest).strip())


def with_templates_in_tables(text: str) -> str:
    """Return the text with a table around each template and noscript, whose end tag ends all that is within.

    There are several, for tables that are open within.
    """
    return _END.sub("</table>" * 4, _START.sub(r"<table>\g<0>", text))


_START = re.compile(r"<(?:template|noscript)(?=[\s/>])", re.IGNORECASE)
_END = re.compile(r"</(?:template|noscript)\s*+>", re.IGNORECASE)
# What has no end reaches to the end of the text, so that it is not searched for an end again and again.
_UNSEEN = re.compile(r"<(script|style)(?=[\s/>]).*?(?:</\1\s*+>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*+>?")

"""Who the crawler says that it is: contact, product token (RFC 9309) and user agent (RFC 9110 section 10.1.5)."""

import re

from batchcrawl import __version__
from batchcrawl.job.settings import Settings
from batchcrawl.web.urls import host_key, host_name, parse_url

DEFAULT_PRODUCT_TOKEN = "batchcrawl"
PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
_E_MAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


def is_contact(text: str) -> bool:
    """Tell whether text is an e-mail address or an http or https URL of a host with a dot in its name.

    It is put into a comment of the User-Agent, so parentheses, spaces and other than ASCII characters are refused.
    """
    if not text.isascii() or not text.isprintable() or any(character in " ()\\" for character in text):
        return False
    if _E_MAIL.fullmatch(text):
        return True
    if not text.startswith(("http://", "https://")):
        return False
    url = parse_url(text)
    return url is not None and "." in host_name(host_key(url)).strip(".")


def product_token(settings: Settings) -> str:
    """Return the name that robots.txt knows the crawler by."""
    if settings.product_token is not None:
        return settings.product_token
    match = PRODUCT_TOKEN.match(settings.user_agent or "")
    return match[0] if match else DEFAULT_PRODUCT_TOKEN


def user_agent(settings: Settings) -> str:
    """Return the User-Agent to send; the contact is added to the job's own one where it does not hold it yet."""
    agent = settings.user_agent or f"{product_token(settings)}/{__version__}"
    if settings.contact is None or settings.contact in agent:
        return agent
    return f"{agent} (+{settings.contact})"


def agent_fault(settings: Settings) -> str | None:
    """Return what is wrong with user agent and product token together, or None.

    The token must stand in the user agent (RFC 9309 section 2.2.1):
    who reads a log finds there the name for robots.txt.
    """
    agent = settings.user_agent
    if agent is None:
        return None
    token = product_token(settings)
    if settings.product_token is None and (PRODUCT_TOKEN.match(agent) is None or token.lower() == "mozilla"):
        return "begins with no name of a crawler; set product_token to the name in it that robots.txt should use"
    if token.lower() not in agent.lower():
        return f"does not hold the product token '{token}'; allowed: text with '{token}' in it"
    return None

"""Secrets of a job: the job file names the environment variable, and only the variable holds the secret."""

import base64
import re
from collections.abc import Mapping
from urllib.parse import quote

from batchcrawl.errors import UsageError

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_SECRET = re.compile(rf"(Basic|Bearer) ({VARIABLE.pattern})")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""RFC 6750, section 2.1."""


def parse_secret(text: str) -> tuple[str, str] | None:
    """Return `Basic` or `Bearer` and the variable's name as a job file gives them, or None."""
    found = _SECRET.fullmatch(text)
    return None if found is None else (found[1], found[2])


def authorization(secrets: Mapping[str, str], *, where: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the Authorization field (RFC 7617, RFC 6750) by host key.

    `where` begins the message of the UsageError for a variable that is missing or holds something else.
    """
    return {host: _field(secret, f"{where}: {host}", environment) for host, secret in secrets.items()}


def proxy_with_credentials(proxy: str, variable: str, *, where: str, environment: Mapping[str, str]) -> str:
    """Return a proxy's URL with the user and the password that an environment variable holds. Raises UsageError."""
    user, _, password = _login(variable, where, environment).partition(":")
    scheme, _, place = proxy.partition("://")
    return f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{place}"


def _field(secret: str, where: str, environment: Mapping[str, str]) -> str:
    kind, _, variable = secret.partition(" ")
    if kind == "Basic":
        login = _login(variable, where, environment)
        return f"Basic {base64.b64encode(login.encode('utf-8', 'surrogateescape')).decode('ascii')}"
    token = _value(variable, where, environment)
    if not _TOKEN.fullmatch(token):
        raise UsageError(f"{where}: the environment variable {variable} must hold a token and nothing else")
    return f"Bearer {token}"


def _login(variable: str, where: str, environment: Mapping[str, str]) -> str:
    login = _value(variable, where, environment)
    if ":" not in login or not login.isprintable():
        raise UsageError(f"{where}: the environment variable {variable} must hold user:password and nothing else")
    return login


def _value(variable: str, where: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable)
    if not value:
        raise UsageError(f"{where}: the environment variable {variable} is not set; set it to the secret")
    return value

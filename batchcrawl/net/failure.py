"""Why a fetch gave no answer: every exception under a fetch becomes one fetch outcome and one line."""

import socket
import ssl
from http.client import HTTPException, RemoteDisconnected

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from batchcrawl.model.outcome import FetchOutcome

FAILURES = (HTTPError, HTTPException, OSError, ValueError, TypeError)
"""What a fetch can raise beside FetchError: urllib3, http.client, sockets with TLS, and refused values."""

_DETAIL_CHARACTERS_MAX = 200


class FetchError(Exception):
    """A fetch ended without an answer; ends it from any depth. Never leaves `net`."""

    def __init__(self, outcome: FetchOutcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


def failure_of(error: Exception) -> tuple[FetchOutcome, str]:
    """Return the outcome that an exception stands for, and what failed in one printable line."""
    if isinstance(error, FetchError):
        return error.outcome, printable(error.detail)
    root = _root(error)
    return _outcome(root), printable(str(root) or type(root).__name__)


def printable(text: str) -> str:
    """Return the text with unprintable characters replaced, at most 200 characters of it."""
    cut = text[:_DETAIL_CHARACTERS_MAX]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)


def _root(error: BaseException) -> BaseException:
    """Unwrap what urllib3 has wrapped: the last argument of its errors is the cause."""
    while isinstance(error, ProtocolError | ProxyError | SSLError) and error.args:
        cause = error.args[-1]
        if not isinstance(cause, BaseException):
            break
        error = cause
    return error


def _outcome(error: BaseException) -> FetchOutcome:
    if isinstance(error, socket.gaierror):
        return FetchOutcome.DNS_FAILED
    if isinstance(error, ssl.SSLError | SSLError):
        return FetchOutcome.TLS_FAILED
    if isinstance(error, NewConnectionError | RemoteDisconnected):
        return FetchOutcome.CONNECT_FAILED
    if isinstance(error, TimeoutError | ReadTimeoutError | ConnectTimeoutError):
        return FetchOutcome.TIMEOUT
    if isinstance(error, OSError):
        return FetchOutcome.CONNECT_FAILED
    return FetchOutcome.PROTOCOL_ERROR

"""Between the web and its connections: finished answers kept ready, conditional requests, the request log."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.fakeweb.layout import Resource
from batchcrawl.fakeweb.web import FakeAnswer, FakeWeb, not_modified
from batchcrawl.fakeweb.wire import Request, answer_head, framed, head_end
from batchcrawl.model.clock import Clock

_KEPT_IN_304 = frozenset({"etag", "last-modified"})
_ENTRY_BYTES = 1_000


class Reply(NamedTuple):
    """What to do for one request."""

    data: bytes
    delay_s: float
    close: bool


class WebClock:
    """The web's own time, which may stand still or run fast."""

    def __init__(self, clock: Clock, *, at: float | None, speed: float | None) -> None:
        self._clock = clock
        self._started_at = clock.now()
        self._at = self._started_at if at is None else at
        default = 1.0 if at is None else 0.0
        self._speed = default if speed is None else speed

    def now(self) -> float:
        """Return the web's instant, in seconds since 1970 UTC."""
        return self._at + (self._clock.now() - self._started_at) * self._speed


class RequestLog:
    """Appends a JSON line a request. It is handed to the system before the answer is sent."""

    def __init__(self, path: str, clock: Clock) -> None:
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise UsageError(f"cannot write the request log {path}: {error.strerror}") from error
        self._clock = clock
        self._encode = msgspec.json.Encoder().encode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def note(self, request: Request, *, status: int, client_port: int) -> None:
        """Write down one request and the status that it gets."""
        line = {
            "at": self._clock.now(),
            "host": request.host,
            "path": request.path_query,
            "status": status,
            "client_port": client_port,
        }
        os.write(self._fd, self._encode(line) + b"\n")


@dataclass(frozen=True)
class _Ready:
    answer: FakeAnswer
    head: bytes
    size: int


class Desk:
    """Turns requests into replies. Keeps the answers last used, up to `cache_bytes` of them."""

    def __init__(
        self,
        web: FakeWeb,
        *,
        now: Callable[[], float],
        log: RequestLog | None,
        latency_s: float,
        cache_bytes: int,
    ) -> None:
        self._web = web
        self._now = now
        self._log = log
        self._latency_s = latency_s
        self._cache_bytes = cache_bytes
        self._cache: OrderedDict[tuple[str, str], _Ready] = OrderedDict()
        self._cached_bytes = 0
        self._end = (0, b"")

    def reply(self, request: Request, client_port: int) -> Reply:
        """Return the bytes of the answer to a request, after writing it into the log."""
        if request.method not in ("GET", "HEAD"):
            return self._reply_without_page(request, client_port)
        now = self._now()
        ready = self._ready(request.host, request.path_query, now)
        answer, head = ready.answer, ready.head
        if _is_conditional(request) and _matches(request, answer):
            answer = _as_not_modified(answer)
            head = answer_head(answer)
        if self._log is not None:
            self._log.note(request, status=answer.status, client_port=client_port)
        close = not request.keep_alive or "content-length" in request.headers or "transfer-encoding" in request.headers
        body = b"" if request.method == "HEAD" else framed(answer)
        return Reply(head + self._head_end(now, close) + body, answer.delay_s + self._latency_s, close)

    def refusal(self, status: int) -> bytes:
        """Return the answer to something that is no request, to be sent before the connection is closed."""
        return answer_head(FakeAnswer(status=status)) + head_end(now=self._now(), keep_alive=False)

    def warm(self, resources: Iterable[Resource]) -> None:
        """Make the answers of resources ready until the cache is full."""
        layout, now = self._web.layout, self._now()
        for resource in resources:
            ready = self._ready(layout.host_name(resource.host), layout.path(resource), now)
            if self._cached_bytes + 2 * ready.size > self._cache_bytes:
                return

    def _reply_without_page(self, request: Request, client_port: int) -> Reply:
        status = 501 if request.method == "CONNECT" else 405
        if self._log is not None:
            self._log.note(request, status=status, client_port=client_port)
        return Reply(self.refusal(status), self._latency_s, close=True)

    def _ready(self, host: str, path_query: str, now: float) -> _Ready:
        key = (host, path_query)
        ready = self._cache.get(key)
        if ready is not None and now < ready.answer.valid_until:
            self._cache.move_to_end(key)
            return ready
        answer = self._web.answer(host, path_query, now)
        fresh = _Ready(answer, answer_head(answer), len(answer.body) + _ENTRY_BYTES)
        self._cached_bytes += fresh.size - (0 if ready is None else ready.size)
        self._cache[key] = fresh
        self._cache.move_to_end(key)
        while self._cached_bytes > self._cache_bytes and self._cache:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= oldest.size
        return fresh

    def _head_end(self, now: float, close: bool) -> bytes:
        if close:
            return head_end(now=now, keep_alive=False)
        if self._end[0] != int(now):
            self._end = (int(now), head_end(now=now, keep_alive=True))
        return self._end[1]


def _is_conditional(request: Request) -> bool:
    return "if-none-match" in request.headers or "if-modified-since" in request.headers


def _matches(request: Request, answer: FakeAnswer) -> bool:
    get = request.headers.get
    return not_modified(answer, if_none_match=get("if-none-match"), if_modified_since=get("if-modified-since"))


def _as_not_modified(answer: FakeAnswer) -> FakeAnswer:
    kept = tuple(field for field in answer.headers if field[0].lower() in _KEPT_IN_304)
    return FakeAnswer(status=304, headers=kept, delay_s=answer.delay_s)

"""Headless Chromium as a judge: what a page's DOM holds, with scripts off for the page.

Driven over the pipes of the DevTools protocol: messages of JSON on descriptors 3 and 4, each ended by a NUL.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

ANSWER_S = 120.0
"""Longest time for one page or one answer of the browser."""
_PIPE_BYTES = 1 << 20
_LOOK = (Path(__file__).parent / "browser_look.js").read_text("utf-8")
_OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=200,100",
    "--disable-features=BackForwardCache,HttpsUpgrades,HttpsFirstBalancedMode,HttpsFirstModeV2ForEngagedSites",
)


class BrowserFailed(Exception):
    """Chromium is missing, does not start, or does not answer; the message is one line."""


class SeenLink(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A link of a page: the element that holds it, its URL as resolved, the tokens of its rel in lower case."""

    kind: str
    url: str
    rel: tuple[str, ...] = ()


class Seen(msgspec.Struct, frozen=True):
    """What was made of a page."""

    base: str
    """URL that links are resolved against."""
    charset: str | None
    """Name of the encoding, in lower case."""
    links: tuple[SeenLink, ...] = ()
    """In the order of the document; only http and https."""
    refresh: str | None = None
    """Where a meta refresh leads."""


class Browser:
    """One tab of a running browser."""

    def __init__(self, wire: "_Wire") -> None:
        self._wire = wire
        self._page_url = ""
        self._refresh: str | None = None
        self._frame = ""
        self._loaded = False
        wire.on_event = self._take_event
        target = wire.call("Target.createTarget", url="about:blank")["targetId"]
        wire.session = wire.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        wire.call("Page.enable")
        wire.call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        wire.call("Emulation.setScriptExecutionDisabled", value=True)

    def look(self, url: str) -> Seen:
        """Load a page and return what its DOM holds. Nothing but the page itself is requested."""
        self._page_url, self._refresh, self._loaded = url, None, False
        answer = self._wire.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise BrowserFailed(f"chromium cannot load {url}: {answer['errorText']}")
        self._frame = answer["frameId"]
        self._wire.wait(lambda: self._loaded)
        world = self._wire.call("Page.createIsolatedWorld", frameId=self._frame, worldName="look")
        result = self._wire.call(
            "Runtime.evaluate", expression=_LOOK, contextId=world["executionContextId"], returnByValue=True
        )
        if "exceptionDetails" in result:
            raise BrowserFailed(f"{url}: {result['exceptionDetails']['exception']['description']}")
        value = result["result"]["value"]
        if value["url"].partition("#")[0] != url.partition("#")[0]:
            raise BrowserFailed(f"{url}: the browser has gone on to {value['url']}")
        refresh = self._refresh if (self._refresh or "").startswith(("http://", "https://")) else None
        return Seen(value["base"], value["charset"], msgspec.convert(value["links"], tuple[SeenLink, ...]), refresh)

    def _take_event(self, method: str, values: dict[str, Any]) -> None:
        if method == "Fetch.requestPaused":
            self._judge_request(values)
        elif method == "Page.frameScheduledNavigation" and values["reason"] == "metaTagRefresh":
            if values["frameId"] == self._frame or not self._frame:
                self._refresh = self._refresh or values["url"]
        elif method == "Page.frameStoppedLoading" and values["frameId"] == self._frame:
            self._loaded = True

    def _judge_request(self, values: dict[str, Any]) -> None:
        """Let the page through, once; anything else would take time, and a refresh would take the page away."""
        if values["request"]["url"] == self._page_url.partition("#")[0] and not self._loaded:
            self._page_url = ""
            self._wire.tell("Fetch.continueRequest", requestId=values["requestId"])
        else:
            self._wire.tell("Fetch.failRequest", requestId=values["requestId"], errorReason="Aborted")


@contextmanager
def browser(host: str, port: int) -> Iterator[Browser]:
    """Run a browser until the block ends. `host` is the one name it can resolve, to that port of 127.0.0.1.

    Raises BrowserFailed when there is no Chromium or it does not answer.
    """
    with _chromium(f"MAP {host} 127.0.0.1:{port}, MAP * ~NOTFOUND") as wire:
        yield Browser(wire)


def open_page(url: str, script: str) -> tuple[Any, list[str]]:
    """Open a page of the disk or of 127.0.0.1, on a screen as wide as a phone's, and run a script in it.

    Returns the script's value, that of a promise once it has one, and a line for each error that the browser has told
    of. Raises as `browser` does.
    """
    errors: list[str] = []
    loaded: list[bool] = []

    def take(method: str, values: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            errors.append(str(values["exceptionDetails"].get("text")))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            errors.append(str(values["entry"]["text"]))
        elif method == "Page.loadEventFired":
            loaded.append(True)

    with _chromium("MAP * ~NOTFOUND, EXCLUDE 127.0.0.1") as wire:
        wire.on_event = take
        target = wire.call("Target.createTarget", url="about:blank")["targetId"]
        wire.session = wire.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            wire.call(f"{domain}.enable")
        wire.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        loaded.clear()
        wire.call("Page.navigate", url=url)
        wire.wait(lambda: bool(loaded))
        result = wire.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            errors.append(str(result["exceptionDetails"]["exception"]["description"]))
    return result["result"].get("value"), errors


@contextmanager
def _chromium(resolver_rules: str) -> Iterator["_Wire"]:
    program = find_chromium()
    if program is None:
        raise BrowserFailed("chromium is not installed")
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        options = [
            *_OPTIONS,
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium's sandbox is not for root
            f"--user-data-dir={profile}",
            f"--host-resolver-rules={resolver_rules}",
        ]
        with _started([program, *options]) as wire:
            yield wire


def find_chromium() -> str | None:
    """Return the path of the program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def _started(command: list[str]) -> Iterator["_Wire"]:
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    # A shell puts the two ends where Chromium looks for them; sh may know descriptors of one digit only.
    shell = ["bash", "-c", f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}', *command]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        shell, pass_fds=(theirs_in, theirs_out), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield _Wire(ours_in, ours_out)
    finally:
        os.close(ours_out)  # the browser leaves when its pipe is closed
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        process.kill()
        process.wait()
        os.close(ours_in)


class _Wire:
    """Messages to and from the browser."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._received = b""
        self._sent = 0
        self.session: str | None = None
        self.on_event: Callable[[str, dict[str, Any]], None] = lambda method, values: None

    def tell(self, method: str, **params: object) -> int:
        """Send a command whose answer does not matter; return its number."""
        self._sent += 1
        message: dict[str, object] = {"id": self._sent, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self._outgoing, json.dumps(message).encode() + b"\0")
        return self._sent

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and return its result."""
        number = self.tell(method, **params)
        give_up_at = time.monotonic() + ANSWER_S
        while (answer := self._next(give_up_at)).get("id") != number:
            pass
        if "error" in answer:
            raise BrowserFailed(f"chromium refuses {method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def wait(self, done: Callable[[], bool]) -> None:
        """Take events until `done` says so."""
        give_up_at = time.monotonic() + ANSWER_S
        while not done():
            self._next(give_up_at)

    def _next(self, give_up_at: float) -> dict[str, Any]:
        """Return the next message; events are handed on before."""
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._incoming], [], [], max(0.0, give_up_at - time.monotonic()))
            if not ready:
                raise BrowserFailed(f"chromium has said nothing for {ANSWER_S:.0f} s")
            octets = os.read(self._incoming, _PIPE_BYTES)
            if not octets:
                raise BrowserFailed("chromium did not start, or has ended")
            self._received += octets
        text, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.on_event(message["method"], message["params"])
        return message

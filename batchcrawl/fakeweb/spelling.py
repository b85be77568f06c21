"""How a link is written in a page: every spelling leads a browser to the one canonical URL."""

import random
from urllib.parse import unquote

from batchcrawl.fakeweb.layout import Layout, Resource
from batchcrawl.fakeweb.rolls import pick

_TRACKING = ("utm_source=letter", "utm_medium=mail&utm_campaign=may", "gclid=Cj0x", "fbclid=IwAR2")


class Speller:
    """Writes the links of one page. `base_path` is the path that relative links are joined to."""

    def __init__(
        self, layout: Layout, faults: frozenset[str], chance: random.Random, *, host: int, base_path: str
    ) -> None:
        self._layout = layout
        self._faults = faults
        self._chance = chance
        self._host = host
        self._base_path = base_path
        self._up = "../" * (base_path.partition("?")[0].count("/") - 1)

    def href(self, target: Resource) -> str:
        """Return a reference to the target, not yet escaped for HTML."""
        path = self._layout.path(target)
        if self._now_and_then("tracking"):
            path += ("&" if "?" in path else "?") + _TRACKING[pick(self._chance, len(_TRACKING))]
        if "paths" in self._faults and "%" in path and self._chance.random() < 0.5:
            path = unquote(path)
        fragment = f"#part-{pick(self._chance, 9)}" if self._now_and_then("fragments") else ""
        if self._now_and_then("spellings"):
            return self._odd(self._layout.host_name(target.host), path + fragment)
        return self._plain(target.host, path) + fragment

    def _now_and_then(self, fault: str) -> bool:
        return fault in self._faults and self._chance.random() < 1 / 8

    def _plain(self, host: int, path: str) -> str:
        name = self._layout.host_name(host)
        form = pick(self._chance, 8) if "relative" in self._faults else 0
        if form == 0:
            return f"http://{name}{path}"
        if form == 1:
            return f"//{name}{path}"
        if host != self._host:
            return f"http://{name}{path}"
        if form <= 4:
            return path
        return self._relative(path)

    def _relative(self, path: str) -> str:
        base, _, _ = self._base_path.partition("?")
        target, mark, query = path.partition("?")
        if mark and target == base:
            return f"?{query}"
        steps = self._up + path[1:]
        # Nothing, or a query alone, would lead back to the page itself.
        return f"./{steps}" if steps[:1] in ("", "?") else steps

    def _odd(self, name: str, path: str) -> str:
        form = pick(self._chance, 6)
        if form == 0:
            return f"HTTP://{name.upper()}{path}"
        if form == 1:
            return f"http://{name}:80{path}"
        if form == 2:
            return f"http://{name}/up/..{path}"
        if form == 3:
            return f"http://{name}/.{path}"
        if form == 4:
            return f" \n http://{name}{path} "
        head, slash, tail = path.rpartition("/")
        return f"http://{name}{head}{slash}" + (f"%{ord(tail[0]):02x}{tail[1:]}" if tail[:1].isalpha() else tail)

"""A disk that forgets what was not synced, to show what a power failure may leave.

It works in a real directory and keeps beside it what is durable: the content of each file at its last
fsync, and the names of each directory at its last sync. Like POSIX, and unlike some file systems, it gives
nothing for free: syncing a file does not keep its name, and a rename waits for the directory. What is there
when the disk is made is durable; every later change must go through the disk.
"""

import os
import random
import shutil
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from batchcrawl.store.disk import Disk, SystemCalls


class PowerCut(BaseException):
    """The power went off before the operation; none that follows happens either."""


class Keep(Enum):
    """How much of what was not synced survives."""

    NOTHING = "nothing"
    SOME = "some"
    """A seeded choice: names as they stood at some moment, files cut anywhere or with zeros at the end."""
    EVERYTHING = "everything"
    """As after a SIGKILL."""


@dataclass
class _Node:
    """A file or directory, whatever it is called. Contents and names are copies, so that they can be restored."""

    is_dir: bool
    durable: bytes = b""
    names: dict[str, "_Node"] = field(default_factory=dict)
    """Names now."""
    history: list[dict[str, "_Node"]] = field(default_factory=list)
    """Names as they were, from the last sync on."""
    path: Path | None = None
    """Where the bytes of a file are now; None when it has no name any more."""


class ForgetfulDisk(Disk):
    """The real Disk over calls that are recorded; `crash` leaves the directory as a power failure might."""

    def __init__(self, root: Path, *, fail_at: int | None = None) -> None:
        self.calls = _Journal(root, fail_at)
        super().__init__(self.calls)

    @property
    def transcript(self) -> list[str]:
        """The operations so far, with paths relative to the root."""
        return self.calls.transcript

    def crash(self, keep: Keep = Keep.NOTHING, *, seed: int = 0) -> None:
        """Cut the power and rewrite the directory. This disk is dead then; open another on the directory."""
        self.calls.crash(keep, random.Random(seed))


class _Journal(SystemCalls):
    def __init__(self, root: Path, fail_at: int | None) -> None:
        self.root = root
        self.transcript: list[str] = []
        self._fail_at = fail_at
        self._off = False
        self._open: dict[int, tuple[Path, _Node]] = {}
        self._tree = _load(root)

    def open(self, path: Path, flags: int) -> int:
        folder = self._node(path.parent)
        made = path.name not in folder.names
        if made:
            self._operation(f"create {self._name(path)}")
        else:
            self._alive()
        fd = super().open(path, flags)
        if made:
            _change(folder)[path.name] = _Node(is_dir=False, path=path)
        self._open[fd] = (path, folder.names[path.name])
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._operation(f"write {self._name(self._open[fd][0])}")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        path, node = self._open[fd]
        self._operation(f"sync {self._name(path)}")
        if node.path is not None:
            node.durable = node.path.read_bytes()

    def ftruncate(self, fd: int, size: int) -> None:
        self._operation(f"truncate {self._name(self._open[fd][0])}")
        super().ftruncate(fd, size)

    def close(self, fd: int) -> None:
        if self._open.pop(fd, None) is not None:
            super().close(fd)

    def rename(self, source: Path, target: Path) -> None:
        self._operation(f"rename {self._name(source)} -> {self._name(target)}")
        super().rename(source, target)
        names = _change(self._node(target.parent))
        if source.parent == target.parent:  # one change: no moment has both names or neither
            node = names.pop(source.name)
        else:
            node = _change(self._node(source.parent)).pop(source.name)
        if target.name in names:
            names[target.name].path = None
        names[target.name] = node
        _move(node, target)

    def unlink(self, path: Path) -> None:
        self._operation(f"remove {self._name(path)}")
        super().unlink(path)
        _change(self._node(path.parent)).pop(path.name).path = None

    def rmdir(self, path: Path) -> None:
        self._operation(f"rmdir {self._name(path)}")
        super().rmdir(path)
        _change(self._node(path.parent)).pop(path.name)

    def mkdir(self, path: Path) -> None:
        self._operation(f"mkdir {self._name(path)}")
        super().mkdir(path)
        _change(self._node(path.parent))[path.name] = _Node(is_dir=True, path=path)

    def sync_dir(self, path: Path) -> None:
        self._operation(f"sync_dir {self._name(path)}")
        self._node(path).history.clear()

    def crash(self, keep: Keep, choice: random.Random) -> None:
        self._off = True
        for fd in list(self._open):
            self.close(fd)
        if keep is Keep.EVERYTHING:
            return
        survivors = _survivors(self._tree, keep, choice)
        for path in self.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, content in survivors:
            path = self.root / name
            if content is None:
                path.mkdir()
            else:
                path.write_bytes(content)

    def _operation(self, line: str) -> None:
        self._alive()
        self.transcript.append(line)
        if len(self.transcript) == self._fail_at:
            self._off = True
            raise PowerCut(line)

    def _alive(self) -> None:
        if self._off:
            raise PowerCut("the power is off")

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def _node(self, path: Path) -> _Node:
        node = self._tree
        for part in path.relative_to(self.root).parts:
            node = node.names[part]
        return node


def _load(path: Path) -> _Node:
    if not path.is_dir():
        return _Node(is_dir=False, durable=path.read_bytes(), path=path)
    return _Node(is_dir=True, names={name: _load(path / name) for name in os.listdir(path)}, path=path)


def _change(folder: _Node) -> dict[str, _Node]:
    folder.history.append(dict(folder.names))
    return folder.names


def _move(node: _Node, path: Path) -> None:
    node.path = path
    for name, child in node.names.items():
        _move(child, path / name)


def _survivors(folder: _Node, keep: Keep, choice: random.Random, name: str = "") -> list[tuple[str, bytes | None]]:
    """Return what the directory will hold, parents first; the content is None for a directory."""
    moments = [*folder.history, folder.names]
    names = moments[0] if keep is Keep.NOTHING else choice.choice(moments)
    found: list[tuple[str, bytes | None]] = []
    for child_name, child in sorted(names.items()):
        path = os.path.join(name, child_name)
        if child.is_dir:
            found.append((path, None))
            found += _survivors(child, keep, choice, path)
        else:
            found.append((path, _content(child, keep, choice)))
    return found


def _content(node: _Node, keep: Keep, choice: random.Random) -> bytes:
    if keep is Keep.NOTHING or node.path is None:
        return node.durable
    written = node.path.read_bytes()
    if not written.startswith(node.durable):  # it was truncated as well
        return choice.choice([node.durable, written])
    cut = choice.randint(len(node.durable), len(written))
    zeros = bytes(choice.choice([0, 0, len(written) - cut]))
    return written[:cut] + zeros

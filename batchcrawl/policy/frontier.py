"""The frontier of a fetch: which item may go out next, on a clock that the caller owns.

Front queues hold items by priority level; back queues hold items by host, one host a queue. Items are
drawn from the front queues in a fixed pattern of levels (an empty level is skipped) and appended to the
back queue of their host; a host without one claims the lowest free number. A heap orders the back
queues by the earliest instant at which their host may be contacted; equal instants go by queue number.

    add --> front queues --draw--> back queues --take--> leased --done--> next contact of the host

Several hosts may share a gate, as those of one domain or of one address do: a gate lets one of them through, then none
for its gap. A host that is due before its gate opens waits at it in line; the gate stands in the heap for all of them.

Heinz and Najork, Mercator (1999), section 3.2; Manning, Raghavan and Schütze, Introduction to
Information Retrieval, section 20.2.3.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

import msgspec

Item = TypeVar("Item")


class Taken(msgspec.Struct, Generic[Item], frozen=True):
    """An item that went out; its host is leased until `Frontier.done` or `Frontier.put_back`."""

    queue: int
    host: str
    item: Item


class Frontier(Generic[Item]):
    """Host queues by the earliest next contact, with priority levels in front. Not thread-safe.

    `pattern` names the levels in the order in which they are drawn, over and over. `back_queues` bounds
    how many hosts are active at once; None gives every host a queue. Instants are seconds on any one
    clock. Every operation takes O(log hosts), drawing included when counted once an item.
    """

    def __init__(self, pattern: Sequence[int], *, back_queues: int | None = None) -> None:
        if not pattern or (back_queues is not None and back_queues < 1):
            raise ValueError(f"a frontier needs a level and a back queue, not {pattern!r} and {back_queues!r}")
        self._pattern = tuple(pattern)
        self._turn = 0
        self._front: dict[int, deque[_Token[Item]]] = {level: deque() for level in sorted(set(pattern))}
        self._in_front = 0
        self._back_queues = back_queues
        self._queues_made = 0
        self._free: list[int] = []
        self._hosts: dict[str, _Host[Item]] = {}
        self._heap: list[tuple[float, int, int, _Host[Item] | _Gate[Item]]] = []
        self._gates: dict[str, _Gate[Item]] = {}
        self._entries = 0
        self._now = 0.0
        self._waiting = 0
        self._leased = 0
        self._active = 0

    @property
    def waiting(self) -> int:
        """Items that have not gone out."""
        return self._waiting

    @property
    def leased(self) -> int:
        """Items that are out."""
        return self._leased

    @property
    def left(self) -> int:
        """Items that are waiting or out."""
        return self._waiting + self._leased

    @property
    def active_hosts(self) -> int:
        """Hosts with an item that waits or is out."""
        return self._active

    def add(self, level: int, host: str, item: Item) -> None:
        """Append an item to the front queue of its level. Raises ValueError for a level outside of the pattern."""
        queue = self._front.get(level)
        if queue is None:
            raise ValueError(f"level {level} is not in the pattern {self._pattern}")
        owner = self._host(host)
        self._note_activity(owner, change=1)
        owner.front.setdefault(level, deque()).append(item)
        queue.append(_Token(owner, owner.epoch))
        self._in_front += 1
        self._waiting += 1

    def take(self, now: float) -> Taken[Item] | None:
        """Lease the host that is due for longest and hand out its next item; None when none is due."""
        self._now = max(self._now, now)
        self._fill()
        host = self._first()
        if host is None or self._heap[0][0] > now:
            return None
        heappop(self._heap)
        host.entry = None
        host.leased = True
        self._pass_gates(host, now)
        self._waiting -= 1
        self._leased += 1
        assert host.queue is not None
        return Taken(host.queue, host.name, host.back.popleft())

    def next_due(self) -> float | None:
        """Return the earliest instant at which `take` succeeds; None while nothing waits or all is leased."""
        self._fill()
        return self._heap[0][0] if self._first() is not None else None

    def done(self, taken: Taken[Item], *, next_contact: float) -> None:
        """End a lease: the host may be contacted again at `next_contact`. Raises ValueError for a second end."""
        self._end_lease(taken, next_contact)

    def put_back(self, taken: Taken[Item], *, next_contact: float) -> None:
        """End a lease whose item was not used: it is again the first of its host."""
        host = self._hosts[taken.host]
        if host.leased:
            host.back.appendleft(taken.item)
            self._waiting += 1
            self._note_activity(host, change=1)
        self._end_lease(taken, next_contact)

    def set_gates(self, host: str, gaps_s: Mapping[str, float]) -> None:
        """Let a host share gates, named with their gaps in seconds; counts from its next contact on."""
        gates = [self._gates.setdefault(name, _Gate(name)) for name in gaps_s]
        for gate in gates:
            gate.gap_s = gaps_s[gate.name]
        self._host(host).gates = gates

    def put_off(self, host: str, *, until: float) -> None:
        """Contact the host no sooner than `until`; never brings its next contact forward."""
        owner = self._host(host)
        if owner.not_before is not None and until <= owner.not_before:
            return
        owner.not_before = until
        if owner.queue is not None and not owner.leased and owner.waits_at is None:
            self._schedule(owner)
            self._give_turn_back(owner)

    def drop_host(self, host: str) -> list[Item]:
        """Take all waiting items of a host out of the frontier and return them. A leased one stays out."""
        owner = self._hosts.get(host)
        if owner is None:
            return []
        items = list(owner.back)
        for level in sorted(owner.front):
            items += owner.front[level]
        self._in_front -= sum(len(queue) for queue in owner.front.values())
        self._waiting -= len(items)
        self._note_activity(owner, change=-len(items))
        owner.back.clear()
        owner.front.clear()
        owner.epoch += 1
        if owner.queue is not None and not owner.leased:
            self._release_queue(owner)
        return items

    def drain(self) -> list[Item]:
        """Take every waiting item out, hosts in the order of their first item."""
        return [item for host in list(self._hosts) for item in self.drop_host(host)]

    def _host(self, name: str) -> "_Host[Item]":
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name)
        return host

    def _note_activity(self, host: "_Host[Item]", *, change: int) -> None:
        before = host.items
        host.items += change
        self._active += (host.items > 0) - (before > 0)

    def _fill(self) -> None:
        """Draw until every back queue has a host or the front queues are empty."""
        while self._in_front and (self._back_queues is None or self._free or self._queues_made < self._back_queues):
            host, item = self._draw()
            host.back.append(item)
            if host.queue is None:
                host.queue = self._claim_queue()
                # A host of which nothing is known is available from the moment its queue is filled.
                host.not_before = self._now if host.not_before is None else max(host.not_before, self._now)
                self._schedule(host)

    def _draw(self) -> "tuple[_Host[Item], Item]":
        while True:
            level = self._pattern[self._turn]
            self._turn = (self._turn + 1) % len(self._pattern)
            queue = self._front[level]
            while queue:
                token = queue.popleft()
                host = token.host
                # Tokens from before a drop_host stand for items that are gone.
                if token.epoch == host.epoch:
                    self._in_front -= 1
                    return host, host.front[level].popleft()

    def _claim_queue(self) -> int:
        if self._free:
            return heappop(self._free)
        self._queues_made += 1
        return self._queues_made

    def _schedule(self, host: "_Host[Item]") -> None:
        assert host.queue is not None
        assert host.not_before is not None
        self._entries += 1
        host.entry = self._entries
        heappush(self._heap, (host.not_before, host.queue, host.entry, host))
        if len(self._heap) > 2 * (len(self._hosts) + len(self._gates)) + 16:
            self._heap = [entry for entry in self._heap if entry[2] == entry[3].entry]
            heapify(self._heap)

    def _first(self) -> "_Host[Item] | None":
        """Bring the host that may be contacted first to the top of the heap; hosts before closed gates leave it."""
        heap = self._heap
        while heap:
            due, _, entry, who = heap[0]
            if entry != who.entry:
                heappop(heap)  # a later entry has replaced it
            elif isinstance(who, _Gate):
                heappop(heap)
                who.entry = None
                self._let_on(who)
            else:
                closed = max((gate for gate in who.gates if gate.open_at > due), key=_open_at, default=None)
                if closed is None:
                    return who
                heappop(heap)
                self._line_up(who, closed)
        return None

    def _line_up(self, host: "_Host[Item]", gate: "_Gate[Item]") -> None:
        host.entry = None
        host.waits_at = gate
        gate.line.append(host)
        self._ring(gate)
        self._give_turn_back(host)

    def _let_on(self, gate: "_Gate[Item]") -> None:
        """Send the first of the line back into the heap, to be contacted when the gate is open."""
        while gate.line:
            host = gate.line.popleft()
            if host.waits_at is not gate:
                continue  # it was dropped
            host.waits_at = None
            assert host.not_before is not None
            put_off = host.not_before > gate.open_at
            host.not_before = max(host.not_before, gate.open_at)
            host.let_on_by = None if put_off else gate
            self._schedule(host)
            if not put_off:
                return

    def _give_turn_back(self, host: "_Host[Item]") -> None:
        """Let the next in line go where a host was let on by a gate and does not go now."""
        gate, host.let_on_by = host.let_on_by, None
        if gate is not None:
            self._ring(gate)

    def _ring(self, gate: "_Gate[Item]") -> None:
        """Put a gate with a line into the heap, at the instant at which it opens."""
        if gate.line and gate.entry is None:
            self._entries += 1
            gate.entry = self._entries
            heappush(self._heap, (gate.open_at, 0, gate.entry, gate))

    def _pass_gates(self, host: "_Host[Item]", now: float) -> None:
        host.let_on_by = None
        for gate in host.gates:
            gate.open_at = max(gate.open_at, now + gate.gap_s)
            gate.entry = None
            self._ring(gate)

    def _end_lease(self, taken: Taken[Item], next_contact: float) -> None:
        host = self._hosts[taken.host]
        if not host.leased:
            raise ValueError(f"{taken.host} is not leased")
        host.leased = False
        self._leased -= 1
        self._note_activity(host, change=-1)
        # A put_off during the lease is already beyond what the delay asks for.
        host.not_before = next_contact if host.not_before is None else max(host.not_before, next_contact)
        if host.back:
            self._schedule(host)
        else:
            self._release_queue(host)

    def _release_queue(self, host: "_Host[Item]") -> None:
        assert host.queue is not None
        heappush(self._free, host.queue)
        host.queue = None
        host.entry = None
        host.waits_at = None
        self._give_turn_back(host)


@dataclass(slots=True, eq=False)
class _Host(Generic[Item]):
    name: str
    front: dict[int, deque[Item]] = field(default_factory=dict)
    back: deque[Item] = field(default_factory=deque)
    queue: int | None = None
    not_before: float | None = None
    items: int = 0
    """Waiting and leased."""
    leased: bool = False
    entry: int | None = None
    """Serial number of its entry in the heap; all others are stale."""
    epoch: int = 0
    """Counts drop_host; tokens of an older epoch are stale."""
    gates: "list[_Gate[Item]]" = field(default_factory=list)
    waits_at: "_Gate[Item] | None" = None
    let_on_by: "_Gate[Item] | None" = None
    """The gate whose turn it has and has not used yet."""


@dataclass(slots=True, eq=False)
class _Gate(Generic[Item]):
    name: str
    gap_s: float = 0.0
    open_at: float = 0.0
    line: deque[_Host[Item]] = field(default_factory=deque)
    entry: int | None = None
    """Serial number of its entry in the heap; None while it has no line or somebody has its turn."""


def _open_at(gate: _Gate[Item]) -> float:
    return gate.open_at


@dataclass(slots=True, eq=False)
class _Token(Generic[Item]):
    """A place in a front queue; the item itself lies with its host."""

    host: _Host[Item]
    epoch: int

"""What a program takes: time, processor time and memory, with all processes that it starts."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.webserver import ROOT

_SAMPLE_S = 0.05


class ProgramFailed(Exception):
    """A measured program ended with an error; the message holds what it said."""


@dataclass(kw_only=True)
class Spent:
    """What was used up."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """User and system time of the process and of all children that it waited for."""
    peak_bytes: int = 0
    """Largest sum of resident memory over the processes, as sampled; pages that they share count in each."""
    peak_own_bytes: int = 0
    """The same without files that are mapped into memory, as LevelDB's tables are: the kernel drops those at need."""
    output: str = ""


def run_program(
    arguments: Sequence[str], *, directory: Path, environment: Mapping[str, str] | None = None, memory: bool = False
) -> Spent:
    """Run a program to its end and return what it took. `memory` samples its processes meanwhile.

    Raises ProgramFailed when its exit code is not 0.
    """
    log = directory / "output.txt"
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            arguments,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        )
        peaks, usage, code = _wait(process.pid, sample=memory)
        wall_s = time.monotonic() - started
    process.returncode = code
    text = log.read_text(encoding="utf-8", errors="replace")
    if code != 0:
        raise ProgramFailed(f"{' '.join(arguments)}: exit code {code}\n{text[-2000:]}")
    peak, own = peaks
    cpu_s = usage.ru_utime + usage.ru_stime
    return Spent(wall_s=wall_s, cpu_s=cpu_s, peak_bytes=peak, peak_own_bytes=own, output=text)


@contextmanager
def measured() -> Iterator[Spent]:
    """Measure a block of this process and the children that end within it; memory is not measured."""
    spent, started, before = Spent(), time.monotonic(), _cpu_s()
    yield spent
    spent.wall_s, spent.cpu_s = time.monotonic() - started, _cpu_s() - before


def _cpu_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _wait(pid: int, *, sample: bool) -> tuple[tuple[int, int], resource.struct_rusage, int]:
    peak = own = 0
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG if sample else 0)
        if ended:
            return (peak, own), usage, os.waitstatus_to_exitcode(status)
        memory = list(map(memory_of, processes_of(pid)))
        peak = max(peak, sum(resident for resident, _ in memory))
        own = max(own, sum(resident - mapped for resident, mapped in memory))
        time.sleep(_SAMPLE_S)


def processes_of(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                yield from processes_of(int(child))
    except OSError:
        return  # it has just ended


def resident_bytes(pid: int) -> int:
    """Return what a process has of the memory; 0 for one that has ended."""
    return memory_of(pid)[0]


def memory_of(pid: int) -> tuple[int, int]:
    """Return what a process has of the memory, and how much of it are mapped files; zeros for one that has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except OSError:
        return 0, 0
    resident, mapped = (int(count) * resource.getpagesize() for count in pages)
    return resident, mapped

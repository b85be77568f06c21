"""The project's Makefile, run in another folder with a program in place of the installed one."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def make(folder: Path, *arguments: str, program: str) -> "subprocess.CompletedProcess[str]":
    """Run a target; `program` is the shell text of what stands for `batchcrawl`. No set-up is made."""
    command = folder / "bin" / "batchcrawl"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f"#!/bin/sh\n{program}\n")
    command.chmod(0o755)
    (folder / ".ready").touch()
    variables = [f"BIN={folder}/bin", f"READY={folder}/.ready"]
    return subprocess.run(
        ["make", "--file", str(ROOT / "Makefile"), "--old-file", f"{folder}/.ready", *variables, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

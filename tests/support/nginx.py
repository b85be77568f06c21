"""An nginx on a loopback port that serves directories under several host names, for the length of a block."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import msgspec

START_S = 10.0


class NginxFailed(Exception):
    """nginx is missing or does not start; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A directory under a host name."""

    host: str
    root: Path
    gzip: bool = False
    """Bodies are compressed on the way, and therefore chunked."""
    robots: str | None = None
    """robots.txt; None: there is none."""


class Hit(msgspec.Struct, frozen=True):
    """A line of the access log."""

    host: str
    uri: str
    """The request target, byte for byte as sent."""
    status: int
    agent: str


@dataclass(frozen=True)
class Nginx:
    """A running server."""

    port: int
    access_log: Path

    def hits(self) -> list[Hit]:
        """Return every request that was answered before the call."""
        # nginx writes the line after the answer, but before it takes up another request: this one, which has no line.
        connection = HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        connection.request("GET", "/")
        connection.getresponse().read()
        connection.close()
        return [msgspec.json.decode(line, type=Hit) for line in self.access_log.read_bytes().splitlines()]


@contextmanager
def serving(sites: Sequence[Site], *, port: int | None = None) -> Iterator[Nginx]:
    """Serve sites on 127.0.0.1 until the block ends; without a port, on one that is free.

    Raises NginxFailed when there is no nginx or it does not start.
    """
    program = find_nginx()
    if program is None:
        raise NginxFailed("nginx is not installed")
    with tempfile.TemporaryDirectory(prefix="nginx-") as name:
        directory = Path(name)
        port = _free_port(port or 0)
        config = directory / "nginx.conf"
        config.write_text(_config(sites, directory, port), encoding="utf-8")
        said = directory / "stderr"
        # Not a pipe, which nobody would empty.
        with (
            said.open("wb") as stderr,
            subprocess.Popen([program, "-p", name, "-c", str(config)], stdout=stderr, stderr=stderr) as process,
        ):
            try:
                _wait_until_up(process, port, said)
                yield Nginx(port, directory / "access.log")
            finally:
                process.terminate()


def find_nginx() -> str | None:
    """Return the path of the nginx program, or None. Debian keeps it where only root looks."""
    return shutil.which("nginx", path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin")


def _free_port(wanted: int) -> int:
    """Return the port that is wanted, or any for 0; nginx itself would try for seconds to get one that is taken."""
    try:
        with socket.create_server(("127.0.0.1", wanted)) as listener:
            return int(listener.getsockname()[1])
    except OSError as error:
        raise NginxFailed(f"port {wanted} of 127.0.0.1 cannot be had: {os.strerror(error.errno or 0)}") from error


def _config(sites: Sequence[Site], directory: Path, port: int) -> str:
    temp_paths = "\n".join(
        f"    {kind}_temp_path {directory / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    servers = "\n".join(_server(site, port) for site in sites)
    return _CONFIG.format(user=_user(), directory=directory, temp_paths=temp_paths, servers=servers, port=port)


def _user() -> str:
    """Let root's workers read what root may read: a directory of a test is closed to others."""
    return "user root;" if os.geteuid() == 0 else ""


_CONFIG = """\
{user}
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/error.log crit;
events {{ worker_connections 512; }}
http {{
{temp_paths}
    log_format hits escape=json '{{"host":"$host","uri":"$request_uri","status":$status,"agent":"$http_user_agent"}}';
    access_log {directory}/access.log hits;
    keepalive_requests 1000000;
    port_in_redirect off;
    default_type application/octet-stream;
    types {{
        text/html html;
        text/plain txt;
        text/xml xml;
        text/css css;
        text/javascript js;
        application/json json;
        image/png png;
        image/gif gif;
        image/svg+xml svg;
        image/x-icon ico;
    }}
    server {{ listen 127.0.0.1:{port} default_server; access_log off; return 404; }}
{servers}
}}
"""


def _server(site: Site, port: int) -> str:
    lines = [f"listen 127.0.0.1:{port};", f"server_name {site.host};", f'root "{site.root}";', "index index.html;"]
    if site.gzip:
        lines += ["gzip on;", "gzip_types text/plain text/css;", "gzip_vary on;"]
    if site.robots is not None:
        text = site.robots.replace("\n", "\\n")
        lines.append(f'location = /robots.txt {{ default_type text/plain; return 200 "{text}"; }}')
    return "    server {\n" + "".join(f"        {line}\n" for line in lines) + "    }"


def _wait_until_up(process: "subprocess.Popen[bytes]", port: int, said: Path) -> None:
    """Return once the port answers, or raise NginxFailed with what nginx said."""
    give_up_at = time.monotonic() + START_S
    while time.monotonic() < give_up_at:
        if process.poll() is not None:
            text = said.read_text(encoding="utf-8", errors="replace").rpartition("[emerg] ")[2].splitlines()
            raise NginxFailed(f"nginx did not start: {text[0] if text else 'it said nothing'}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    raise NginxFailed(f"nginx does not answer on port {port} after {START_S:.0f} s")

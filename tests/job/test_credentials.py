import base64
from pathlib import Path

import pytest

from batchcrawl.errors import JobFileError, UsageError
from batchcrawl.job.client import client_settings
from batchcrawl.job.load import Job, load_job
from batchcrawl.model.clock import SystemClock
from batchcrawl.net.client import Client


def job_of(tmp_path: Path, text: str) -> Job:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    return load_job("x.toml", cwd=tmp_path)


CREDENTIALS = """
[network.credentials]
"https://a.example" = "Basic A_LOGIN"
"http://b.example:8080" = "Bearer B_TOKEN"
"""
ENVIRONMENT = {"A_LOGIN": "user:pass:wörd", "B_TOKEN": "abc-._~+/123==", "P": "us er:p@ss:"}


def test_credentials_become_fields_by_host_key(tmp_path: Path) -> None:
    settings = client_settings(job_of(tmp_path, CREDENTIALS), threads=1, environment=ENVIRONMENT)
    assert settings.authorization == {
        "https://a.example": f"Basic {base64.b64encode('user:pass:wörd'.encode()).decode()}",
        "http://b.example:8080": "Bearer abc-._~+/123==",
    }


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        (
            CREDENTIALS,
            {},
            "x.toml:2: network.credentials: https://a.example: "
            "the environment variable A_LOGIN is not set; set it to the secret",
        ),
        (
            CREDENTIALS,
            {"A_LOGIN": "secret"},
            "x.toml:2: network.credentials: https://a.example: "
            "the environment variable A_LOGIN must hold user:password and nothing else",
        ),
        (
            CREDENTIALS,
            {"A_LOGIN": "user:secret\r\nX: y"},
            "x.toml:2: network.credentials: https://a.example: "
            "the environment variable A_LOGIN must hold user:password and nothing else",
        ),
        (
            CREDENTIALS,
            ENVIRONMENT | {"B_TOKEN": "secret secret"},
            "x.toml:2: network.credentials: http://b.example:8080: "
            "the environment variable B_TOKEN must hold a token and nothing else",
        ),
        (
            '[network]\nproxy = "socks5://p.example:1080"\nproxy_credentials = "Q"',
            {"Q": ""},
            "x.toml:3: network.proxy_credentials: the environment variable Q is not set; set it to the secret",
        ),
    ],
)
def test_a_secret_that_cannot_be_used_is_one_line_without_it(
    tmp_path: Path, text: str, environment: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        client_settings(job_of(tmp_path, text), threads=1, environment=environment)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("host", "secret"),
    [
        ("a.example", "Basic A"),
        ("https://a.example/", "Basic A"),
        ("https://a.example/x", "Basic A"),
        ("https://a.example:443", "Basic A"),
        ("https://A.example", "Basic A"),
        ("https://user@a.example", "Basic A"),
        ("ftp://a.example", "Basic A"),
        ("*", "Basic A"),
        ("https://a.example", "A"),
        ("https://a.example", "basic A"),
        ("https://a.example", "Digest A"),
        ("https://a.example", "Basic user:password"),
        ("https://a.example", "Bearer "),
    ],
)
def test_credentials_are_of_a_host_key_and_name_a_variable(tmp_path: Path, host: str, secret: str) -> None:
    with pytest.raises(
        JobFileError, match=r'\Ax\.toml:2: network\.credentials\."[^\n]+ is not allowed here; allowed: '
    ):
        job_of(tmp_path, f'[network.credentials]\n"{host}" = "{secret}"')


def test_a_job_without_credentials_reads_no_variable(tmp_path: Path) -> None:
    settings = client_settings(job_of(tmp_path, ""), threads=1, environment={})
    assert (settings.authorization, settings.proxy, settings.client_certificate) == ({}, None, None)


def test_the_credentials_of_a_proxy_are_put_into_its_url(tmp_path: Path) -> None:
    text = '[network]\nproxy = "https://p.example:3128"\nproxy_credentials = "P"'
    settings = client_settings(job_of(tmp_path, text), threads=1, environment=ENVIRONMENT)
    assert settings.proxy == "https://us%20er:p%40ss%3A@p.example:3128"


def test_credentials_for_no_proxy_are_refused(tmp_path: Path) -> None:
    with pytest.raises(JobFileError, match=r"\Ax\.toml:1: network\.proxy_credentials: there is no proxy; set network"):
        job_of(tmp_path, 'network.proxy_credentials = "P"')


def test_settings_do_not_show_what_is_secret(tmp_path: Path) -> None:
    text = f'{CREDENTIALS}\n[network]\nproxy = "http://p.example:3128"\nproxy_credentials = "P"'
    shown = repr(client_settings(job_of(tmp_path, text), threads=1, environment=ENVIRONMENT))
    assert not [secret for secret in ("abc-", "p%40ss", "dXNlcjp") if secret in shown]


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
def test_every_proxy_that_a_job_may_name_is_taken_by_the_client(tmp_path: Path, scheme: str) -> None:
    job = job_of(tmp_path, f'network.proxy = "{scheme}://[::1]:3128"')
    Client(client_settings(job, threads=1), SystemClock()).close()


@pytest.mark.parametrize(
    "proxy",
    ["socks4://a:1", "socks5://a", "socks5://user:pass@a:1", "https://a:1/x", "a:1", "http://a:0", "http://::1:1"],
)
def test_any_other_proxy_is_refused(tmp_path: Path, proxy: str) -> None:
    with pytest.raises(
        JobFileError, match=r"allowed: http://, https://, socks5://, socks5h:// with host:port and no more"
    ):
        job_of(tmp_path, f'network.proxy = "{proxy}"')


def test_the_client_gets_what_the_job_says_of_a_fetch(tmp_path: Path) -> None:
    text = '[fetch]\nspeed_min = "2KB"\ncookies = true\n[network]\nclient_certificate = "own/c.pem"'
    settings = client_settings(job_of(tmp_path, text), threads=7)
    assert (settings.bytes_per_second_min, settings.cookies, settings.threads) == (2000, True, 7)
    assert settings.client_certificate == str(tmp_path / "own/c.pem")


def test_the_defaults_of_a_job_are_a_slow_server_s_and_no_cookies(tmp_path: Path) -> None:
    settings = client_settings(job_of(tmp_path, ""), threads=7)
    assert (settings.bytes_per_second_min, settings.speed_window_s, settings.cookies) == (100, 20.0, False)


@pytest.mark.parametrize("name", ["Authorization", "proxy-authorization"])
def test_credentials_are_no_header_field_of_all_hosts(tmp_path: Path, name: str) -> None:
    with pytest.raises(JobFileError, match="allowed: any field that the crawler does not set by itself"):
        job_of(tmp_path, f'[fetch.headers]\n{name} = "Basic x"')

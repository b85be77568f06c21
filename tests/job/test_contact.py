from pathlib import Path

import pytest

from batchcrawl.errors import JobFileError
from batchcrawl.job.agent import is_contact
from batchcrawl.job.load import Job, load_job, require_contact


def job_of(tmp_path: Path, text: str) -> Job:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    return load_job("x.toml", cwd=tmp_path)


def test_without_a_contact_a_host_elsewhere_is_refused_with_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(JobFileError) as caught:
        require_contact(job_of(tmp_path, ""), ["localhost", "example.org"])
    assert str(caught.value) == (
        "x.toml: contact: not set, and example.org is not this machine; set contact to a URL or an e-mail address "
        'where the owner of a host can reach you, as contact = "https://example.org/crawler"'
    )


@pytest.mark.parametrize(
    "host", ["localhost", "a.localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
)
def test_without_a_contact_this_machine_may_be_asked(tmp_path: Path, host: str) -> None:
    require_contact(job_of(tmp_path, ""), [host])


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "::2", "localhost.example.org", "notlocalhost", "0.0.0.0", "::ffff:10.0.0.1"]
)
def test_without_a_contact_no_other_address_may_be_asked(tmp_path: Path, host: str) -> None:
    with pytest.raises(JobFileError):
        require_contact(job_of(tmp_path, ""), [host])


@pytest.mark.parametrize(
    "text",
    [
        'contact = "me@example.org"',
        'network.names = { "*" = "127.0.0.1:8765" }',
        'network.names = { "*.example.org" = "[::1]:80" }',
        'network.proxy = "http://127.0.0.1:8765"',
        'network.proxy = "http://localhost:8765"',
    ],
)
def test_a_host_may_be_asked_with_a_contact_or_where_every_connection_stays_on_this_machine(
    tmp_path: Path, text: str
) -> None:
    require_contact(job_of(tmp_path, text), ["www.example.org"])


@pytest.mark.parametrize(
    "text",
    [
        'network.names = { "example.org" = "127.0.0.1" }',
        'network.names = { "*" = "127.0.0.1", "*.example.org" = "192.0.2.1" }',
        'network.proxy = "http://proxy.example.org:8765"',
        'network.proxy = "socks5://127.0.0.1:9050"',
        'network = { proxy = "http://192.0.2.1:80", names = { "*" = "127.0.0.1" } }',
        'network = { proxy = "http://near.test:8765", names = { "near.test" = "127.0.0.1" } }',
    ],
)
def test_without_a_contact_a_connection_elsewhere_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(JobFileError):
        require_contact(job_of(tmp_path, text), ["www.example.org"])


def test_a_name_of_this_machine_that_the_table_sends_elsewhere_is_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(JobFileError):
        require_contact(job_of(tmp_path, 'network.names = { "localhost" = "192.0.2.1" }'), ["localhost"])


@pytest.mark.parametrize(
    "text", ["me@example.org", "a.b+c@mail.example.org", "https://example.org", "http://example.org/bot?x"]
)
def test_an_address_or_a_url_is_a_contact(text: str) -> None:
    assert is_contact(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me",
        "me@localhost",
        "@example.org",
        "https://",
        "ftp://example.org/",
        "http://a.b/ c",
        "http://a.b/)",
        "é@example.org",
    ],
)
def test_what_nobody_can_be_reached_by_is_no_contact(text: str) -> None:
    assert not is_contact(text)


@pytest.mark.parametrize(
    ("text", "user_agent", "product_token"),
    [
        ("", "batchcrawl/0.1.0", "batchcrawl"),
        ('contact = "https://a.org/bot"', "batchcrawl/0.1.0 (+https://a.org/bot)", "batchcrawl"),
        ('contact = "me@a.org"\nproduct_token = "abot"', "abot/0.1.0 (+me@a.org)", "abot"),
        ('user_agent = "Abot-X/2.1"', "Abot-X/2.1", "Abot-X"),
        ('contact = "me@a.org"\nuser_agent = "abot/2"', "abot/2 (+me@a.org)", "abot"),
        ('contact = "me@a.org"\nuser_agent = "abot/2 (me@a.org)"', "abot/2 (me@a.org)", "abot"),
        ('user_agent = "Mozilla/5.0 (like Abot/1)"\nproduct_token = "abot"', "Mozilla/5.0 (like Abot/1)", "abot"),
    ],
)
def test_the_user_agent_names_the_crawler_and_the_contact(
    tmp_path: Path, text: str, user_agent: str, product_token: str
) -> None:
    job = job_of(tmp_path, text)
    assert (job.user_agent, job.product_token) == (user_agent, product_token)

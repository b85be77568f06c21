import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.domains import Domains, bundled_list, list_version

LIST = """
// VERSION: 2026-01-02_03-04-05_UTC
// ===BEGIN ICANN DOMAINS===
org
uk
co.uk
*.ck
!www.ck
公司.cn
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
pages.org
*.eu.cloud.org
公司.org
// ===END PRIVATE DOMAINS===
"""


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("a.example.co.uk", "example.co.uk"),
        ("a.b.c.ck", "b.c.ck"),
        ("a.www.ck", "www.ck"),
        ("a.example.unlisted", "example.unlisted"),
        ("a.b.xn--55qx5d.cn", "b.xn--55qx5d.cn"),
        ("a.me.pages.org", "pages.org"),
    ],
)
def test_a_host_belongs_to_the_label_below_its_public_suffix(host: str, domain: str) -> None:
    assert Domains(LIST).registered(host) == domain


@pytest.mark.parametrize("host", ["co.uk", "localhost", "192.0.2.1", "2001:db8::1", "", "..", "a..org"])
def test_a_suffix_an_address_and_what_is_no_name_are_their_own_domain(host: str) -> None:
    assert Domains(LIST).registered(host) == host
    assert Domains(LIST).budget(host) is None


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.me.pages.org", "me.pages.org"),
        ("me.pages.org", "me.pages.org"),
        ("pages.org", None),
        ("www.example.org", None),
        ("b.a.eu.cloud.org", "b.a.eu.cloud.org"),
        ("x.b.a.eu.cloud.org", "b.a.eu.cloud.org"),
        ("cloud.org", None),
        ("me.xn--55qx5d.org", "me.xn--55qx5d.org"),
    ],
)
def test_the_private_section_makes_domains_within_the_registered_one(host: str, domain: str | None) -> None:
    assert Domains(LIST).budget(host) == domain


def test_the_bundled_list_states_its_version() -> None:
    version = list_version(bundled_list())
    assert version is not None
    assert version >= "2024"


def test_a_list_without_a_version_has_none() -> None:
    assert list_version("org\n") is None


@given(st.text())
def test_any_text_has_a_domain(text: str) -> None:
    assert isinstance(Domains(LIST).registered(text), str)


@given(st.from_regex(r"([a-z]{1,2}\.){0,3}((eu\.)?cloud|pages)\.org", fullmatch=True))
def test_a_domain_of_the_private_section_lies_within_the_registered_one(host: str) -> None:
    domains = Domains(LIST)
    budget = domains.budget(host)
    assert budget is None or budget.endswith(f".{domains.registered(host)}")

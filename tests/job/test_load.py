import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchcrawl.errors import JobFileError
from batchcrawl.job.catalogue import catalogue, sections, settings_of, value_of
from batchcrawl.job.load import Job, load_job, require_contact
from batchcrawl.job.settings import Settings
from batchcrawl.job.spelling import in_file_form, toml_value

JOBS = Path(__file__).parents[2] / "jobs"


def job_of(tmp_path: Path, text: str) -> Job:
    path = tmp_path / "jobs" / "x.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_job("x", cwd=tmp_path)


def message_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(JobFileError) as caught:
        job_of(tmp_path, text)
    return str(caught.value)


def test_an_empty_file_is_a_job_of_defaults(tmp_path: Path) -> None:
    job = job_of(tmp_path, "")
    assert job.settings == Settings()
    assert set(job.sources.values()) == {"default"}


def test_a_setting_knows_the_line_that_gives_it(tmp_path: Path) -> None:
    job = job_of(tmp_path, '\ncontact = "me@example.org"\n\n[politeness]\n\ndelay_min = "2s"\n')
    assert job.settings.politeness.delay_min_s == 2.0
    assert {name: at for name, at in job.sources.items() if at != "default"} == {
        "contact": "jobs/x.toml:2",
        "politeness.delay_min": "jobs/x.toml:6",
    }


def test_a_name_is_looked_for_in_jobs_and_its_data_stands_beside_jobs(tmp_path: Path) -> None:
    job = job_of(tmp_path, "")
    assert (job.name, job.path, job.data_dir) == ("x", tmp_path / "jobs/x.toml", tmp_path / "data/x")


def test_a_path_outside_of_jobs_has_its_data_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "here.toml").write_text("")
    job = load_job("here.toml", cwd=tmp_path)
    assert (job.name, job.shown, job.data_dir) == ("here", "here.toml", tmp_path / "data/here")


def test_the_data_directory_may_be_set_as_seen_from_the_job_file(tmp_path: Path) -> None:
    assert job_of(tmp_path, 'data = "../elsewhere"').data_dir == tmp_path / "elsewhere"


def test_seed_files_are_named_as_seen_from_the_job_file(tmp_path: Path) -> None:
    assert job_of(tmp_path, 'seed_files = ["a.txt"]').seed_paths == [tmp_path / "jobs/a.txt"]


def test_a_job_goes_to_another_process_and_stays_equal(tmp_path: Path) -> None:
    job = job_of(tmp_path, 'network.names = { "*" = "127.0.0.1" }')
    assert pickle.loads(pickle.dumps(job)) == job


DELAY = 'allowed: a time with a unit, such as "30s", "6h" or "7d", from 0s to 3650d'
SIZE = 'allowed: a size with a unit, such as "10MB" or "2MiB", from 1KB to 1TB'
TOP_KEYS = "contact, user_agent, product_token, data, seeds, seed_files"
SECTIONS = "crawl, scope, traps, generate, politeness, fetch, network, parse, recrawl, sitemaps"
POLITENESS_KEYS = "delay_min, delay_max, domain_gap, address_gap, factor, backoff_min, backoff_max, host_failures_max"
CONTACT = "allowed: a URL such as https://example.org/crawler or an address such as me@example.org"
HOST = "allowed: a host name such as www.example.org, in lower case, without scheme and port"
STEPS = (
    "allowed: userinfo, fragment, host_dot, percent_encoding, tracking, session, empty_query, https, www, "
    "index_page, trailing_slash, sort_query, each with a minus before it or without"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # unknown
        (
            '[politeness]\ndelay_mim = "1s"',
            f"2: politeness.delay_mim: unknown key; nearest is 'delay_min'; allowed: {POLITENESS_KEYS}",
        ),
        ("threads = 3", f"1: threads: unknown key; nearest is 'fetch.threads'; allowed: {TOP_KEYS}"),
        ("sedes = []", f"1: sedes: unknown key; nearest is 'seeds'; allowed: {TOP_KEYS}"),
        ("[polite]", f"1: polite: unknown section; nearest is 'politeness'; allowed: {SECTIONS}"),
        ("'a b'.c = 1", f"1: \"a b\": unknown section; nearest is 'traps'; allowed: {SECTIONS}"),
        # wrong type or range
        ("[politeness]\ndelay_min = 5", f"2: politeness.delay_min: 5 is not allowed here; {DELAY}"),
        ('[politeness]\ndelay_min = "5"', f'2: politeness.delay_min: "5" is not allowed here; {DELAY}'),
        ('politeness.delay_min = "20y"', f'1: politeness.delay_min: "20y" is not allowed here; {DELAY}'),
        ("fetch.body_bytes_max = 10", f"1: fetch.body_bytes_max: 10 is not allowed here; {SIZE}"),
        ('fetch.body_bytes_max = "2TB"', f'1: fetch.body_bytes_max: "2TB" is not allowed here; {SIZE}'),
        (
            "fetch.threads = true",
            "1: fetch.threads: true is not allowed here; allowed: a whole number from 1 to 2,000",
        ),
        ("fetch.threads = 0", "1: fetch.threads: 0 is not allowed here; allowed: a whole number from 1 to 2,000"),
        (
            "fetch.threads = 64.5",
            "1: fetch.threads: 64.5 is not allowed here; allowed: a whole number from 1 to 2,000",
        ),
        (
            f"fetch.threads = 0x{'f' * 5000}",
            "1: fetch.threads: so large a number is not allowed here; allowed: a whole number from 1 to 2,000",
        ),
        ("politeness.factor = nan", "1: politeness.factor: nan is not allowed here; allowed: a number from 0 to 1,000"),
        (
            "fetch.full_every = 0",
            "1: fetch.full_every: 0 is not allowed here; allowed: a whole number from 1 to 10,000",
        ),
        (
            'fetch.conditional = "yes"',
            '1: fetch.conditional: "yes" is not allowed here; allowed: true or false',
        ),
        (
            'scope.within = "all"',
            '1: scope.within: "all" is not allowed here; allowed: "any" or "seed-domain" or "seed-host"',
        ),
        (
            "contact = 2026-11-30",
            "1: contact: 2026-11-30 is not allowed here; allowed: text in quotes of 1 to 500 characters",
        ),
        (
            'seeds = "https://example.org/"',
            '1: seeds: "https://example.org/" is not allowed here; '
            "allowed: a list, each text in quotes of 1 to 64000 characters",
        ),
        (
            'fetch.headers = ["a"]',
            '1: fetch.headers: a list is not allowed here; allowed: a table of text, as { "a" = "b" }',
        ),
        ("crawl = 2", "1: crawl: 2 is no section; allowed: a line [crawl] with its keys below"),
        ("[[fetch]]", "1: fetch: a list is no section; allowed: a line [fetch] with its keys below"),
        # wrong meaning
        ('contact = "me"', f'1: contact: "me" is not allowed here; {CONTACT}'),
        ('contact = "https://localhost/"', f'1: contact: "https://localhost/" is not allowed here; {CONTACT}'),
        ('contact = "me@example.org (x)"', f'1: contact: "me@example.org (x)" is not allowed here; {CONTACT}'),
        (
            'user_agent = "é/1.0"',
            '1: user_agent: "é/1.0" is not allowed here; allowed: printable ASCII characters',
        ),
        (
            'product_token = "bot 2"',
            '1: product_token: "bot 2" is not allowed here; allowed: letters, - and _ (RFC 9309 section 2.2.1)',
        ),
        (
            'seeds = ["https://example.org/", "foo"]',
            "1: seeds: \"foo\" is not allowed here; allowed: an http or https URL (not a URL: 'foo')",
        ),
        ('seed_files = [" "]', '1: seed_files: " " is not allowed here; allowed: a path'),
        ('crawl.canonical_steps = ["-trackng"]', f'1: crawl.canonical_steps: "-trackng" is not allowed here; {STEPS}'),
        ('scope.hosts = ["https://a.org"]', f'1: scope.hosts: "https://a.org" is not allowed here; {HOST}'),
        (
            'scope.include = ["("]',
            '1: scope.include: "(" is not allowed here; allowed: a regular expression of Python '
            "(missing ), unterminated subpattern at position 0)",
        ),
        (
            'scope.exclude = ["[[a]"]',
            '1: scope.exclude: "[[a]" is not allowed here; allowed: a regular expression of Python '
            "(Possible nested set at position 1)",
        ),
        (
            'fetch.content_types = ["HTML"]',
            '1: fetch.content_types: "HTML" is not allowed here; '
            "allowed: a media type such as text/html, in lower case, without parameters",
        ),
        (
            '[fetch]\nheaders.Host = "x"',
            '2: fetch.headers.Host: "x" is not allowed here; '
            "allowed: any field that the crawler does not set by itself",
        ),
        (
            '[fetch.headers]\nX-A = "a\\r\\nb"',
            '2: fetch.headers.X-A: "a\\r\\nb" is not allowed here; allowed: printable ASCII characters',
        ),
        (
            '[fetch.headers]\n"X A" = "a"',
            '2: fetch.headers."X A": "a" is not allowed here; allowed: the name of a header field and its text',
        ),
        (
            'network.proxy = "socks4://a:1"',
            '1: network.proxy: "socks4://a:1" is not allowed here; '
            "allowed: http://, https://, socks5://, socks5h:// with host:port and no more",
        ),
        (
            'network.allow_addresses = ["10.1.0.0/8"]',
            '1: network.allow_addresses: "10.1.0.0/8" is not allowed here; '
            "allowed: an address range such as 127.0.0.0/8 or fd00::/8 (10.1.0.0/8 has host bits set)",
        ),
        (
            '[network.names]\n"*.test" = "localhost"',
            '2: network.names."*.test": "localhost" is not allowed here; '
            "allowed: an address such as 127.0.0.1, 127.0.0.1:8765 or [::1]:8765",
        ),
        (
            '[network.names]\n"a*" = "::1"',
            '2: network.names."a*": "::1" is not allowed here; '
            "allowed: a host name in lower case, *.suffix or *, then an address",
        ),
        # settings that must agree
        (
            '[politeness]\ndelay_min = "90s"',
            '2: politeness.delay_min: "90s" is longer than delay_max, "1m"; change one',
        ),
        (
            '[recrawl]\ninterval_max = "1d"',
            '2: recrawl.interval_max: "1d" is shorter than interval, "30d"; change one',
        ),
        (
            'user_agent = "Mozilla/5.0 (compatible)"',
            "1: user_agent: begins with no name of a crawler; "
            "set product_token to the name in it that robots.txt should use",
        ),
        (
            'user_agent = "abot/1.0"\nproduct_token = "bbot"',
            "1: user_agent: does not hold the product token 'bbot'; allowed: text with 'bbot' in it",
        ),
    ],
)
def test_an_error_is_one_line_with_place_key_and_what_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    assert message_of(tmp_path, text) == f"jobs/x.toml:{message}"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("y", "jobs/y.toml: no such file; jobs there: x"),
        ("z/y.toml", "z/y.toml: no such file; make one by: batchcrawl new y URL"),
        (
            "jobs/x",
            "'jobs/x' is no job; allowed: a name of letters, digits, '.', '-' and '_' for jobs/NAME.toml, "
            "or a path that ends in .toml",
        ),
        ("dir.toml", "dir.toml: cannot be read: Is a directory"),
        ("a\0.toml", "a\\u0000.toml: cannot be read: embedded null byte"),
    ],
)
def test_a_job_that_is_not_there_is_told_in_one_line(tmp_path: Path, argument: str, message: str) -> None:
    job_of(tmp_path, "")
    (tmp_path / "dir.toml").mkdir()
    with pytest.raises(JobFileError) as caught:
        load_job(argument, cwd=tmp_path)
    assert str(caught.value) == message


def test_canonical_steps_are_switched_on_and_off(tmp_path: Path) -> None:
    steps = job_of(tmp_path, 'crawl.canonical_steps = ["www", "-tracking"]').settings.crawl.steps()
    assert steps == ("userinfo", "fragment", "host_dot", "percent_encoding", "session", "empty_query", "www")


@pytest.mark.parametrize(("text", "cores", "partitions"), [("", 2, 2), ("", 64, 8), ("crawl.partitions = 12", 2, 12)])
def test_partitions_follow_the_cores_unless_they_are_set(
    tmp_path: Path, text: str, cores: int, partitions: int
) -> None:
    assert job_of(tmp_path, text).settings.crawl.partitions_for(cores) == partitions


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_job_files_of_the_project_are_right(path: Path) -> None:
    load_job(str(path), cwd=Path("/"))


def test_the_demo_needs_no_contact() -> None:
    require_contact(load_job(str(JOBS / "demo.toml"), cwd=Path("/")), ["start.test", "h0000.d000.test"])


_NAMES = st.sampled_from([setting.key for setting in catalogue()] + list(sections())) | st.text(max_size=8)
_TEXTS = (
    st.text(max_size=12)
    | st.sampled_from(["1s", "2MB", "https://example.org/", "127.0.0.1", "any", "example.org", "[", "a@b.c"])
    | st.from_regex(r"[0-9]{1,3}(s|MB|y)", fullmatch=True)
)
_SCALARS = _TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats()
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=st.dictionaries(_NAMES, _VALUES, max_size=4))
def test_any_toml_is_a_job_or_one_line_of_error(tmp_path: Path, document: dict[str, Any]) -> None:
    text = "".join(f"{toml_value(key)} = {toml_value(value)}\n" for key, value in document.items())
    try:
        job_of(tmp_path, text)
    except JobFileError as error:
        one_line = str(error)
    else:
        one_line = "jobs/x.toml:"
    assert one_line.startswith("jobs/x.toml:")
    assert one_line.isprintable()


_GIVEN = st.sampled_from([setting for setting in catalogue() if setting.default not in (None, (), {})])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(setting=_GIVEN)
def test_a_default_that_is_written_out_changes_nothing(tmp_path: Path, setting: Any) -> None:
    spelled = toml_value(in_file_form(setting.default, unit=setting.unit))
    job = job_of(tmp_path, f"{setting.name} = {spelled}")
    assert job.settings == Settings()
    assert job.sources[setting.name] == "jobs/x.toml:1"


def test_every_setting_says_what_it_means() -> None:
    assert all(setting.meaning.endswith(".") for setting in catalogue())


def test_no_key_is_both_a_section_and_a_setting() -> None:
    assert not set(sections()) & set(settings_of(None))


def test_the_catalogue_holds_every_value_of_the_settings() -> None:
    assert all(value_of(Settings(), setting) == setting.default for setting in catalogue())

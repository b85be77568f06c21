import resource

from batchcrawl.store.segment_events import OTHER_FILES, _allow_open_files


def test_update_may_open_all_its_files_of_links_at_once() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        _allow_open_files(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(300 + OTHER_FILES, hard)
        _allow_open_files(1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(300 + OTHER_FILES, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

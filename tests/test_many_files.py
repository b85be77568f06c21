import resource

from batchcrawl.store.open_files import allow_open_files


def test_the_limit_of_open_files_rises_as_far_as_is_needed_and_never_falls() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        assert allow_open_files(300) == min(300, hard)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(300, hard)
        assert allow_open_files(1) == 1
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(300, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

"""The limit of open files, which many systems set to 256 or 1024."""

import resource


def allow_open_files(files: int) -> None:
    """Raise the soft limit of open files as far as is needed and the hard one lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files > soft != resource.RLIM_INFINITY:
        most = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

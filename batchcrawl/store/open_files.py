"""The limit of open files, which many systems set to 256 or 1024."""

import resource


def allow_open_files(files: int) -> int:
    """Raise the soft limit of open files as far as is needed and the hard one lets it; return how many may be open.

    That is at most `files`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files <= soft or soft == resource.RLIM_INFINITY:
        return files
    most = files if hard == resource.RLIM_INFINITY else min(files, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most

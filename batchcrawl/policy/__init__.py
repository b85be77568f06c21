"""Whether and when a URL is fetched, as pure functions of their arguments: no disk, no socket, no clock."""

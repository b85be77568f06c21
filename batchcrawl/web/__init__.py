"""Bytes and strings to values: URLs, domains, robots.txt, HTML, charsets, codings, signatures. Pure."""

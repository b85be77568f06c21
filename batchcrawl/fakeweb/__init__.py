"""A seeded synthetic web on loopback, for rehearsal, tests and benchmarks.

Reading order: `spec` (what is asked for), `layout` (which URLs there are), `links`, `changes`, `render`,
`robots`, then `web` (what each URL answers); `truth` (what a crawl must find); `wire`, `server` (HTTP/1.1).
All but `server` are pure: a page is computed from the seed when it is asked for, and nothing is kept, so
an endless web costs what is looked at.
"""

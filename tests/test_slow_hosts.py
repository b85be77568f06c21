import threading
from pathlib import Path

from tests.support.commands import crawl, urls, write_job
from tests.support.scripted_web import Scripted, scripted_web

SLOW = "http://slow.same.test/"
OTHERS = [f"http://quick.same.test/{n}" for n in range(3)]
PATIENCE_S = 15.0


class _Waiting(dict[str, Scripted]):
    """Answers of a slow host come only when all pages of the other have been asked for."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys([SLOW, *OTHERS], Scripted()))
        self._left = set(OTHERS)
        self._all_asked = threading.Event()

    def get(self, url: str, default: Scripted | None = None) -> Scripted | None:  # type: ignore[override]
        self._left.discard(url)
        if not self._left:
            self._all_asked.set()
        if url.startswith(SLOW):
            self._all_asked.wait(PATIENCE_S)
        return super().get(url, default)


def test_a_host_that_does_not_answer_holds_up_no_other_though_there_is_one_thread(tmp_path: Path) -> None:
    with scripted_web(_Waiting()) as web:
        write_job(tmp_path, port=web.port, seeds=[SLOW, *OTHERS], sections='[fetch]\nthreads = 1\nread_timeout = "10s"')
        crawl(tmp_path)
    assert {url: row["status"] for url, row in urls(tmp_path).items()} == dict.fromkeys([SLOW, *OTHERS], "fetched")
    assert web.asked.index(OTHERS[-1]) < web.asked.index(SLOW)

"""The server below a prefix, where JupyterHub and code servers put what a user has started."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.playing import begin, play_to_the_end

PREFIXES = ("/user/ann/proxy/8123/", "/g/a%20b%C3%A9/gallery/~(;=)%2F/")


class Proxy(ThreadingHTTPServer):
    """Passes on what is asked for below a prefix, without the prefix.

    Args:
        server: the address of the server.
        prefix: the prefix, as browsers send it.

    Attributes:
        elsewhere: what was asked for elsewhere.
    """

    def __init__(self, server: str, prefix: str) -> None:
        self.behind, self.prefix, self.elsewhere = urlsplit(server).netloc, prefix, list[str]()
        super().__init__(("127.0.0.1", 0), Passing)

    @property
    def address(self) -> str:
        """The address of the server below the prefix."""
        return f"http://localhost:{self.server_port}{self.prefix}"


class Passing(BaseHTTPRequestHandler):
    """A request on its way, with the Host that the browser sent."""

    server: Proxy

    def do_GET(self) -> None:
        """Pass it on, and the answer back."""
        if not self.path.startswith(self.server.prefix):
            self.server.elsewhere.append(self.path)
            return self.send_error(404)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        onward = http.client.HTTPConnection(self.server.behind)
        path = "/" + self.path.removeprefix(self.server.prefix)
        onward.request(self.command, path, body, dict(self.headers))
        answer = onward.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.read())
        onward.close()

    do_POST = do_DELETE = do_GET  # noqa: N815 - names that are given

    def log_message(self, *words: Any) -> None:
        """Be quiet."""


@pytest.fixture(params=PREFIXES)
def proxy(server: str, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    """A proxy before the server."""
    with Proxy(server, request.param) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_everything_below_a_prefix(page: Any, proxy: Proxy) -> None:
    """A whole game, its replay, the way back, the list with its game, and the gallery."""
    begin(page, proxy.address, "score_dominari", seed="1")
    assert page.url.startswith(f"{proxy.address}g/")
    played = play_to_the_end(page, seed=2)
    page.reload()
    page.wait_for_selector(".play[data-over='true']")
    assert page.locator(".moves li").count() >= len(played)
    replay = page.get_by_text("Watch").get_attribute("href")
    with page.expect_download() as record:
        page.get_by_text("Record").click()
    assert record.value.url.startswith(proxy.address)
    (cookie,) = page.context.cookies()
    assert cookie["path"] == f"{proxy.prefix}api"
    page.get_by_text("New game").click()
    page.wait_for_selector(".games li")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    page.wait_for_selector(".games li", state="detached")
    page.get_by_text("games between agents").click()
    page.locator(".gallery a").first.click()
    page.wait_for_selector(".review svg")
    assert page.goto(replay).status == 404  # of the game that was deleted
    assert set(proxy.elsewhere) <= {"/favicon.ico"}  # which browsers ask for themselves

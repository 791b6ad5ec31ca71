"""A run's page in a real browser: it says nothing on the console, asks nobody for anything, and runs no script."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from couler_py.report.facts import Attachment, AttemptFacts, Log, RunFacts, TaskFacts
from couler_py.report.runs import run_page
from tests.unit.report.test_runs import demo

pytestmark = pytest.mark.cluster  # installs a package of the system


class Seen:
    """A page as the browser has it in the end, and what it said on its console meanwhile."""

    def __init__(self, dom: str, log: str):
        self.dom = dom
        self.console = re.findall(r'CONSOLE:\d+\] "(.*)", source', log)

    @property
    def title(self) -> str:
        found = re.search("<title>(.*?)</title>", self.dom)
        assert found is not None
        return found[1]


@pytest.fixture(scope="module")
def chromium() -> str:
    """Chromium; installed where it is missing and may be."""
    found = shutil.which("chromium")
    if found is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            pytest.skip("there is no chromium, and only root may install it")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], check=True, env=environment
        )
        found = shutil.which("chromium")
    assert found is not None
    return found


@pytest.fixture
def look(chromium: str, tmp_path: Path) -> Callable[..., Seen]:
    """Opens a page, at a place of it."""

    def opened(html: str, place: str = "") -> Seen:
        page = tmp_path / "page.html"
        page.write_text(html, encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        options += [f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=3000"]
        done = subprocess.run(
            [chromium, *options, "--dump-dom", f"file://{page}{place}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return Seen(done.stdout, done.stderr)

    return opened


class Server(http.server.ThreadingHTTPServer):
    """Remembers what it was asked for."""

    asked: list[str]


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on this machine that pages may try to reach."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            serving.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    serving = Server(("127.0.0.1", 0), Handler)
    serving.asked = []
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield serving
    serving.shutdown()
    serving.server_close()


def test_a_page_says_nothing_on_the_console(look: Callable[..., Seen]) -> None:
    seen = look(
        run_page(demo(), [Attachment("plot", "/x", "image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>')])
    )
    assert (seen.title, seen.console) == ("demo", [])


def test_what_a_link_leads_to_is_unfolded(look: Callable[..., Seen]) -> None:
    assert re.search(
        r'<details class="task Failed" open[^>]*><summary>.*?<div class="behind" id="t1"',
        look(run_page(demo()), "#t1").dom,
        re.DOTALL,
    )
    assert " open" not in "".join(re.findall("<details[^>]*>", look(run_page(demo())).dom))


def test_nothing_in_a_page_asks_a_server_or_runs(look: Callable[..., Seen], server: Server) -> None:
    where = f"http://127.0.0.1:{server.server_port}"
    markup = (
        f"<script>document.title='taken'; top.document.title='taken'; fetch('{where}/fetch')</script>"
        f"<img src='{where}/img'><img src=x onerror=\"top.document.title='taken'\">"
        f"<link rel=stylesheet href='{where}/css'>"
        f"<style>body {{ background: url({where}/background) }} @import url({where}/import);</style>"
        f"<iframe src='{where}/frame'></iframe><meta http-equiv=refresh content='0;url={where}/refresh'>"
        f"<object data='{where}/object'></object><form action='{where}/form'><input autofocus></form>"
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f"onload=\"document.title='taken'\"><script>fetch('{where}/svg')</script>"
        f'<image href="{where}/svg-image" width="9" height="9"/></svg>'
    )
    task = TaskFacts(
        markup, "Failed", 1, 1.0, 1.0, 2.0, markup, tries=(AttemptFacts(0, "Failed", 1.0, 2.0, log=Log(markup)),)
    )
    run = RunFacts("r-1", "flow", "Failed", started=1.0, finished=2.0, outputs={markup: markup}, tasks=(task,))
    files = [
        Attachment("page", "/p", "text/html", f"<html><body>{markup}</body></html>".encode()),
        Attachment("picture", "/s", "image/svg+xml", svg.encode()),
        Attachment("table", "/t", "text/csv", f'"{markup}",b\n1,2\n'.encode()),
    ]
    seen = look(run_page(run, files))
    assert (seen.title, server.asked) == ("flow", [])


def test_the_policy_stops_a_script_even_where_one_got_into_the_page(look: Callable[..., Seen], server: Server) -> None:
    where = f"http://127.0.0.1:{server.server_port}"
    injected = (
        f"<script>document.title='taken'</script><img src='{where}/img' onerror=\"document.title='taken'\">"
        f"<script src='{where}/script.js'></script></main>"
    )
    seen = look(run_page(demo()).replace("</main>", injected))
    assert (seen.title, server.asked) == ("demo", [])
    assert any("Content Security Policy" in line for line in seen.console)

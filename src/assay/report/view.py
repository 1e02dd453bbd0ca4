"""`assay view`: a read-only local web page over the stored runs, for this machine's user with the token."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.errors import AssayError, InputError
from assay.model.run import Run
from assay.report import pages
from assay.report.model.answer import in_a_line
from assay.store.find import other_profile
from assay.store.index import Filter, Index, ListedRun
from assay.store.read import FILE, read
from assay.verdict.compare import compare

_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets through only reads of paths below `/<token>/` that a page of ours, or a person, asks for."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Stand before `app`, which sees its paths without the token."""
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0], _HEADERS)(scope, receive, send)
            return
        prefix = f"/{self._token.decode()}"
        inner = dict(scope, root_path=scope.get("root_path", "") + prefix)
        await self._app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "this page only shows"
        host, _, port = headers.get("host", "").rpartition(":")
        if host not in ("127.0.0.1", "localhost") or port != str(scope["server"][1]):
            return 421, "this page is served on 127.0.0.1 only"
        origin = headers.get("origin")
        if origin not in (None, f"http://{headers['host']}"):
            return 403, "another origin asked"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "another site asked"
        _, _, below = scope["path"].partition("/")  # "*" names no path, and has no "/"
        first = below.partition("/")[0]
        if not secrets.compare_digest(first.encode(), self._token):
            return 403, "this address needs its token: open the one that `assay view` printed"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = dict(message, headers=[*message.get("headers", []), *added])
        await send(message)

    return sending


_REPORTS_KEPT = 8
"""Rendered reports kept in memory: at most 1 MB each."""


def make_app(results: Path, token: str) -> Guard:
    """The application over one results folder."""
    shown = _Pages(results)
    routes = [
        Route("/", shown.history, name="history"),
        Route("/run/{run}", shown.report, name="report"),
        Route("/live/{run}", shown.live, name="live"),
        Route("/compare", shown.compare, name="compare"),
    ]
    handlers = {HTTPException: _failed, AssayError: _refused}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token)


class _Pages:
    """Handlers over one results folder. Runs are named by their folder, which must be in the index."""

    def __init__(self, results: Path) -> None:
        self._results = results

    async def history(self, request: Request) -> HTMLResponse:
        """The list, filtered by the query."""
        asked = request.query_params
        chosen = Filter(study=asked.get("study", ""), server=asked.get("server", ""))
        entries = await run_in_threadpool(Index(self._results, in_a_line).runs, chosen)
        going_on = await run_in_threadpool(self._going_on, entries)
        return HTMLResponse(pages.history(entries, chosen, _base(request), going_on))

    async def report(self, request: Request) -> HTMLResponse:
        """A run's report, as `assay report --html` writes it."""
        file = await run_in_threadpool(self._file, request.path_params["run"])
        other = await run_in_threadpool(_other, file)
        return HTMLResponse(
            await run_in_threadpool(_report, _FileState.of(file), other and _FileState.of(other))
        )

    async def live(self, request: Request) -> HTMLResponse:
        """Where a run stands; the page asks again by itself until it has ended."""
        file = await run_in_threadpool(self._file, request.path_params["run"])
        run = await run_in_threadpool(_judged, file)
        return HTMLResponse(pages.live(run, file.parent.name, _base(request), ended=_ended(file)))

    async def compare(self, request: Request) -> HTMLResponse:
        """Two runs side by side."""
        base, new = request.query_params.get("base", ""), request.query_params.get("new", "")
        files = [await run_in_threadpool(self._file, name) for name in (base, new)]
        runs = [await run_in_threadpool(_judged, file) for file in files]
        found = await run_in_threadpool(compare, runs[0], runs[1], {})
        return HTMLResponse(await run_in_threadpool(pages.of_comparison, found, _base(request)))

    def _going_on(self, entries: Iterable[ListedRun]) -> set[str]:
        """The folders of the runs that have neither ended nor been judged."""
        open_ones = (one.folder for one in entries if not (one.complete or one.problem or one.damaged))
        return {folder for folder in open_ones if not _ended(self._results / folder / FILE)}

    def _file(self, name: str) -> Path:
        """The run file of that folder; only folders of the index exist, so no path leads out."""
        known = {entry.folder for entry in Index(self._results, in_a_line).runs(Filter())}
        if name not in known:
            raise InputError("there is no such run", "it may have been removed")
        return self._results / name / FILE


class _FileState(NamedTuple):
    """A run file in the state that its time and size name."""

    file: Path
    changed_ns: int
    size: int

    @classmethod
    def of(cls, file: Path) -> _FileState:
        seen = file.stat()
        return cls(file, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=_REPORTS_KEPT)
def _report(run: _FileState, other: _FileState | None) -> str:
    """The report of a run, beside that of the other profile in its series."""
    from assay.report.model.profiles import pair_of

    judged = _judged(run.file)
    return pages.of_run(judged, pair_of(judged, other.file if other else None))


def _other(file: Path) -> Path | None:
    """The run of the same study under the other profile, if there is one that can be read."""
    try:
        other = other_profile(file.parent.parent, read(file).run.header)
        return read(other).path if other else None
    except InputError:  # a damaged record or series is in nobody else's way
        return None


def _judged(file: Path) -> Run:
    from assay.verdict import judged

    return judged(read(file).run)


def _ended(file: Path) -> bool:
    """Whether the last line is a judgement: the run is over, or was interrupted in order."""
    return read(file).run.judgement is not None


def _base(request: Request) -> str:
    return str(request.scope["root_path"])


async def _failed(request: Request, problem: Exception) -> HTMLResponse:
    code = problem.status_code if isinstance(problem, HTTPException) else 500
    return HTMLResponse(pages.message("There is no such page.", _base(request)), code)


async def _refused(request: Request, problem: Exception) -> HTMLResponse:
    return HTMLResponse(pages.message(str(problem), _base(request)), 404)

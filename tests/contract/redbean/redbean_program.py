"""A stand-in for the redbean program, faithful where redbean's documentation speaks.

It runs the way redbean does: the program is a zip file too; its `/.init.lua` runs once, in Lua 5.4, with the
modules of `/.lua`; then each connection gets a forked copy of that state, which answers its requests by
`OnHttpRequest`. Responses are compressed as redbean compresses them (text of 100 bytes or more, level 4, for
clients that accept gzip). Only documented functions exist, so that an application that leans on anything else
fails here.

    redbean_program.py ZIP_FILE [-s] [-l ADDR] [-p PORT]    serve
    redbean_program.py ZIP_FILE -i SCRIPT                   run a Lua script with redbean's functions
"""

from __future__ import annotations

import getopt
import os
import signal
import socket
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from lupa import lua54
from redbean_exchange import Exchange, read_request
from redbean_lsqlite3 import install as install_lsqlite3

VERSION = 0x020200
LOG_LEVELS = {"kLogFatal": 0, "kLogError": 1, "kLogWarn": 2, "kLogInfo": 3, "kLogVerbose": 4, "kLogDebug": 5}

# What makes require find /zip/.lua/NAME.lua: in redbean open(2) itself reads below /zip.
SEARCHER = """
local read = ...
package.path = "/zip/.lua/?.lua;/zip/.lua/?/init.lua"
package.searchers[2] = function(name)
  for pattern in package.path:gmatch("[^;]+") do
    local path = pattern:gsub("%?", (name:gsub("%.", "/")))
    local text = read(path:sub(#"/zip" + 1))
    if text then return assert(load(text, "@" .. path)), path end
  end
  return "\\n\\tno file below /zip/.lua for '" .. name .. "'"
end
"""


class Redbean:
    """The program: its zip file, its Lua state and its hooks."""

    def __init__(self, program: Path) -> None:
        """Read the zip file and prepare a Lua state with redbean's functions."""
        with zipfile.ZipFile(program) as archive:
            self.assets = {f"/{name}": archive.read(name) for name in archive.namelist()}
        # Latin-1 carries Lua's bytes through Python's text unchanged.
        self.lua = lua54.LuaRuntime(encoding="latin-1", unpack_returned_tuples=True)
        self.exchange: Exchange | None = None
        self.lua.execute(SEARCHER, self.load_asset)
        self._define()
        install_lsqlite3(self.lua)

    def load_asset(self, path: str) -> str | None:
        """`LoadAsset(path) → str`."""
        data = self.assets.get(path)
        return None if data is None else data.decode("latin-1")

    def _define(self) -> None:
        names: dict[str, object] = dict(LOG_LEVELS)
        names["GetRedbeanVersion"] = lambda: VERSION
        names["LoadAsset"] = self.load_asset
        names["GetAssetSize"] = lambda path: len(self.assets[path]) if path in self.assets else None
        names["Log"] = lambda _level, message: print(message, file=sys.stderr, flush=True)
        for name in ("GetMethod", "GetPath", "GetParam", "HasParam", "GetHeader", "GetPayload"):
            names[name] = self._of_request(name)
        for name in ("SetStatus", "SetHeader", "Write", "ServeAsset"):
            names[name] = self._of_request(name)
        scope = self.lua.globals()
        for name, value in names.items():
            scope[name] = value

    def _of_request(self, name: str) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if self.exchange is None:
                raise RuntimeError(f"{name} can only be called while a request is handled")
            return self.exchange.call(name, *arguments)

        return call

    def hook(self, name: str) -> None:
        """Call a hook that the application may have defined."""
        function = self.lua.globals()[name]
        if function is not None:
            function()

    def interpret(self, script: str) -> None:
        """Interpreter mode: run a script and end."""
        self.lua.execute(Path(script).read_text())

    def serve_connection(self, connection: socket.socket) -> None:
        """Answer the requests of one connection, in the process that was forked for it."""
        self.hook("OnWorkerStart")
        stream = connection.makefile("rb")
        keep_alive = True
        while keep_alive:
            request = read_request(stream)
            if request is None:
                break
            self.exchange = Exchange(request, self.assets)
            try:
                self.lua.globals()["OnHttpRequest"]()
            except lua54.LuaError as error:
                print(error, file=sys.stderr, flush=True)
                self.exchange.fail(500)
            keep_alive = self.exchange.keep_alive
            connection.sendall(self.exchange.response())
        self.hook("OnWorkerStop")

    def serve(self, address: str, port: int) -> NoReturn:
        """Run `/.init.lua`, then fork a worker for each connection until SIGTERM."""
        text = self.load_asset("/.init.lua")
        if text is None:
            raise SystemExit("the zip file has no .init.lua")
        self.lua.globals()["load"](text, "@/zip/.init.lua")()
        workers: set[int] = set()

        def stop(_signal: int, _frame: object) -> NoReturn:
            for worker in workers:
                os.kill(worker, signal.SIGTERM)
            sys.exit(0)

        with socket.create_server((address, port), backlog=1024) as listener:
            self.hook("OnServerStart")
            signal.signal(signal.SIGTERM, stop)
            signal.signal(signal.SIGCHLD, lambda _signal, _frame: reap(workers))
            while True:
                connection, _peer = listener.accept()
                with connection:
                    # A worker that ends before it is noted would never be reaped.
                    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
                    worker = os.fork()
                    if worker == 0:
                        self._become_worker(listener, connection)
                    workers.add(worker)
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})

    def _become_worker(self, listener: socket.socket, connection: socket.socket) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})
        listener.close()
        try:
            self.serve_connection(connection)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)
        os._exit(0)


def reap(workers: set[int]) -> None:
    """Collect the workers that have ended."""
    for worker in tuple(workers):
        if os.waitpid(worker, os.WNOHANG)[0] == worker:
            workers.discard(worker)


def main() -> None:
    """Read redbean's flags, as far as the application's row uses them, and do what they say."""
    program, *arguments = sys.argv[1:]
    options, rest = getopt.getopt(arguments, "sil:p:")
    given = dict(options)
    redbean = Redbean(Path(program))
    if "-i" in given:
        redbean.interpret(rest[0])
    else:
        redbean.serve(given.get("-l", "0.0.0.0"), int(given.get("-p", "8080")))


if __name__ == "__main__":
    main()

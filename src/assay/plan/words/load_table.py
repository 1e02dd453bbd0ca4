"""The flags of `assay load` as a table, and their words to values: forms, credentials, expected headers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from assay.core import urls
from assay.core.errors import InputError
from assay.core.vault import token
from assay.plan.words import parse
from assay.plan.words.parse import TOKEN, readable_file


def header_value(word: str) -> str:
    """Text that may stand in a header."""
    if re.search(r"[\r\n\0]", word):
        raise argparse.ArgumentTypeError("a header's value cannot hold a line break")
    return word.strip()


def expected_header(word: str) -> dict[str, str | None]:
    """A header of right answers: its name, and a regular expression found in its value."""
    name, colon, pattern = word.partition(":")
    if not TOKEN.fullmatch(name.strip()):
        raise argparse.ArgumentTypeError(f'{word!r} is not a header such as "Content-Type: ^text/"')
    return {"name": name.strip(), "pattern": pattern.strip() if colon else None}


def form_part(word: str) -> dict[str, str]:
    """One field of a form, as curl writes it: name=text, name=@path, name=@path;type=image/png."""
    name, equals, value = word.partition("=")
    if not (equals and name):
        raise argparse.ArgumentTypeError(f"{word!r} is not a field such as name=Ada or picture=@cat.png")
    if not value.startswith("@"):
        return {"name": name, "text": value}
    path, *settings = value[1:].split(";")
    part = {"name": name, "file": readable_file(path)}
    known = {"type": "content_type", "filename": "file_name"}
    for setting in settings:
        key, _, said = setting.strip().partition("=")
        if key not in known or not said:
            raise argparse.ArgumentTypeError(f"{setting!r} is neither type=… nor filename=…")
        part[known[key]] = header_value(said)
    return part


def basic(word: str) -> str:
    """Name and password as an Authorization header says them (RFC 7617)."""
    from base64 import b64encode

    said = parse.referred(word)
    name, colon, _ = said.partition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError("write it as NAME:PASSWORD")
    made = b64encode(said.encode()).decode()
    return f"Basic {made if said == word else token(made)}"


def bearer(word: str) -> str:
    """A token as an Authorization header says it (RFC 6750)."""
    if _is_file_of_curl(word):
        raise argparse.ArgumentTypeError(f'the token would be the name of a file; write "$(cat {word[1:]})"')
    said = parse.referred(word)
    if not re.fullmatch(r"[!-~]+", said):
        raise argparse.ArgumentTypeError("a token is letters, digits and punctuation, without spaces")
    return f"Bearer {said if said == word else token(said)}"


def bearer_file(path: str) -> str:
    """The same, of the token that is all of a file."""
    said = parse.text_of(path).strip()
    if not re.fullmatch(r"[!-~]+", said):
        raise argparse.ArgumentTypeError(f"{path} does not hold one token alone")
    return f"Bearer {token(said)}"


def header_file(path: str) -> list[tuple[str, str]]:
    """The headers of a file, one a line, each value as the token of a secret."""
    lines = enumerate(parse.text_of(path).splitlines(), 1)
    headers = []
    for number, line in ((number, line.strip()) for number, line in lines):
        name, colon, value = line.partition(":")
        if not line or line.startswith("#"):
            continue
        if not colon or not TOKEN.fullmatch(name.strip()) or not value.strip():
            raise argparse.ArgumentTypeError(
                f"{path}, line {number} is not a header such as Accept: text/html"
            )
        headers.append((name.strip(), token(value.strip())))
    return headers


def address(word: str) -> str:
    """An IP address with or without a port: 127.0.0.1, 127.0.0.1:8080, ::1, [::1]:8080."""
    found = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:]+):(\d+)|(.+)", word)
    host = found and (found[1] or found[3] or found[5])
    port = found and (found[2] or found[4])
    if not host or not _is_ip(host) or (port and not 0 < int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{word!r} is not an address such as 127.0.0.1:8080 or [::1]:8080")
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" if port else host


def source(word: str) -> str:
    """An IP address without a port: the system chooses the ports to connect from."""
    if not _is_ip(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not an address such as 127.0.0.2")
    return word


def resolution(word: str) -> dict[str, Any]:
    """The addresses of a host and port, as curl writes them: example.test:80:127.0.0.1,::1."""
    found = re.fullmatch(r"(\[[^\]]+\]|[^:]+):(\d{1,5}):(.+)", word)
    addresses = [part.strip("[]") for part in found[3].split(",")] if found else []
    if found is None or not all(map(_is_ip, addresses)):
        raise argparse.ArgumentTypeError(f"{word!r} is not like example.test:80:127.0.0.1")
    return {"host": found[1].strip("[]").lower(), "port": int(found[2]), "addresses": addresses}


def proxy(word: str) -> str:
    """The URL of a proxy, with the credentials that it is told, if any."""
    url = word if "://" in word else f"http://{word}"
    shown = re.sub(r"(?<=//)[^/]*@", "…@", url)
    wrong = argparse.ArgumentTypeError(
        f"{shown!r} is not a proxy such as http://127.0.0.1:3128 or http://NAME:PASSWORD@127.0.0.1:3128"
    )
    try:
        parts = urls.parse(url)
    except InputError:
        raise wrong from None
    if parts.scheme != "http" or parts.port is None or parts.target != "/":
        raise wrong
    told_proxy(parts.user)
    return url.rstrip("/")


def told_proxy(user: str) -> str:
    """What a proxy is told of who uses it, from what stands before the "@" of its URL; empty for nothing."""
    if not user:
        return ""
    return basic(unquote(user if ":" in user else f"{user}:"))


def alpn(word: str) -> tuple[str, ...]:
    """Protocols to offer; "none" for none."""
    return () if word == "none" else tuple(part.strip() for part in word.split(","))


def _is_ip(text: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def body_text(word: str) -> str:
    """A body as it is sent; what other tools write for a file is refused where that file is there."""
    if _is_file_of_curl(word):
        raise argparse.ArgumentTypeError(
            f"the body would be the name of a file; write --body-file {word[1:]}"
        )
    return word


def _is_file_of_curl(word: str) -> bool:
    return word.startswith("@") and Path(word[1:]).is_file()


def requests_file(word: str) -> str:
    """The path of a file that can be read, or "-" for standard input."""
    if word.isdigit() and not Path(word).exists():
        raise argparse.ArgumentTypeError(f"there is no file {word}; so many requests are --count {word}")
    return word if word == "-" else readable_file(word)


DEFAULT_CONNECTIONS = 64
DEFAULT_DURATION_NS = 10_000_000_000
"""Ten seconds: the shortest measured window that S7 does not flag."""
DEFAULT_STATUSES = "2xx,3xx"


class LoadFlag(msgspec.Struct, frozen=True):
    """`names` of the flag, the place `into` the tree (dotted), how its word is read, its help.

    `parse` None makes a switch, whose presence sets `switch`.
    """

    names: tuple[str, ...]
    into: str
    parse: Callable[[str], Any] | None
    metavar: str
    help: str
    repeat: bool = False
    switch: Any = True
    common: bool = False
    """Whether the short help shows it."""

    @property
    def dest(self) -> str:
        """The attribute of the parsed arguments: the long name."""
        return self.names[-1].lstrip("-").replace("-", "_")


HOW_MUCH = (
    LoadFlag(("-c", "--connections"), "load.connections", parse.whole, "N",
         f"connections kept busy; at most, with --rate [{DEFAULT_CONNECTIONS}]", common=True),
    LoadFlag(("-d", "--duration"), "stop.ns", parse.time_ns, "TIME", "measure for so long [10s]",
         common=True),
    LoadFlag(("-n", "--count"), "stop.count", parse.whole, "N", "measure so many requests instead",
         common=True),
    LoadFlag(("-t", "--threads"), "threads", parse.whole, "N", "engine threads [half the cores]"),
    LoadFlag(("--cpus",), "cpus", parse.cpus, "LIST", "pin the threads to these cores: 0,2 or 0-3"),
    LoadFlag(("--warm-up",), "warmup_max_ns", parse.time_ns, "TIME",
         "load for so long before measuring [0s]", common=True),
    LoadFlag(("--think-time",), "load.think_time_ns", parse.time_ns, "TIME",
         "pause of a connection between an answer and its next request [0s]"),
)  # fmt: skip

AT_A_RATE = (
    LoadFlag(("-r", "--rate"), "load.rate", parse.rate_per_s, "RATE",
         "open loop: requests a second, whatever the server does; the latency is what users see: "
         "500, 20k, 6/m", common=True),
    LoadFlag(("--stage",), "load.stages", parse.stage, "TIME:RATE[..RATE]",
         "ramps and steps, repeatable: 30s:0..5000 (a ramp), 10s:5000, 5s:0 (a pause)", repeat=True,
         common=True),
    LoadFlag(("--arrivals",), "load.arrivals", str, "{constant,poisson}",
         "open loop: even or random gaps between requests [constant]"),
    LoadFlag(("--pacer",), "load.pacer", str, "{spin,sleep}",
         "open loop: punctual and busy, or cheap and up to 1 ms late [spin]"),
)  # fmt: skip

WHAT = (
    LoadFlag(("-m", "--method"), "request.method", str.upper, "METHOD",
         "request method [GET; POST with a body]"),
    LoadFlag(("-H", "--header"), "request.headers", parse.header, "'NAME: VALUE'",
         "add a request header; repeatable; or env:NAME", repeat=True, common=True),
    LoadFlag(("-b", "--body"), "request.body", body_text, "TEXT", "request body", common=True),
    LoadFlag(("--body-file",), "request.body_file", parse.readable_file, "PATH", "request body from a file"),
    LoadFlag(("-F", "--form"), "request.form", form_part, "NAME=TEXT|NAME=@PATH",
         "field of a multipart form; repeatable; after a PATH ;type=… and ;filename=… may follow",
         repeat=True),
    LoadFlag(("--chunked",), "request.chunk_bytes", parse.whole, "BYTES",
         "stream the body in chunks of so many bytes, without a Content-Length"),
    LoadFlag(("-u", "--user"), "sent.basic", basic, "NAME:PASSWORD", "basic auth; or env:NAME", common=True),
    LoadFlag(("--bearer",), "sent.bearer", bearer, "TOKEN", "bearer auth, by a token; or env:NAME",
         common=True),
    LoadFlag(("--bearer-file",), "sent.bearer_of_file", bearer_file, "PATH", "the same, from a file"),
    LoadFlag(("--header-file",), "request.headers_of_file", header_file, "PATH",
         "request headers from a file, one a line; all are taken for secrets"),
    LoadFlag(("--accept-encoding",), "sent.accept_encoding", header_value, "CODINGS",
         "ask for a coded body: gzip, br, …"),
    LoadFlag(("--template",), "request.templated", None, "",
         "replace {counter}, {random:1-100} and {uuid} in path, headers and body, each time anew"),
    LoadFlag(("--requests",), "sent.file", requests_file, "FILE",
         'several requests, a line each: {"path": "/a", "weight": 3, …}, or a path or URL; '
         "- is standard input"),
    LoadFlag(("--har",), "sent.har", parse.readable_file, "FILE",
         "the requests of a browser's recording; without a URL to the server of the first"),
    LoadFlag(("--all-hosts",), "sent.all_hosts", None, "",
         "with --har: also those to other servers, each to its own"),
    LoadFlag(("--curl",), "sent.curl", str, "COMMAND",
         "the request of a command for curl, such as browsers copy: 'curl -X POST http://…'"),
    LoadFlag(("--order",), "sent.order", str, "{sequential,weighted,random}",
         "their order: as in the file, each as often in a row as its weight says; drawn by weight; "
         "drawn evenly [weighted where the file has weights, else sequential]"),
    LoadFlag(("--http1.0",), "http_version", None, "", "speak HTTP/1.0", switch="1.0"),
    LoadFlag(("--http2",), "http.two", None, "",
         "speak HTTP/2: by ALPN over TLS, without TLS unasked (prior knowledge)", switch="2"),
    LoadFlag(("--http3",), "http.three", None, "",
         "speak HTTP/3: over QUIC on UDP, to an https URL", switch="3"),
    LoadFlag(("--http",), "http.version", str, "{1,2,3,auto}",
         "HTTP/1.1, HTTP/2, HTTP/3, or which of the first two a server behind TLS picks [1]"),
    LoadFlag(("--streams",), "streams", parse.whole, "N",
         "HTTP/2 and 3: requests under way at once on each connection [1]"),
    LoadFlag(("--seed",), "seed", parse.natural, "N",
         "seed of everything random, to repeat a load [drawn; JSON and records name it]"),
)  # fmt: skip

WHAT_IS_RIGHT = (
    LoadFlag(("--expect-status",), "expect.status", parse.statuses, "CODES",
         f"right status codes: 200,204, 2xx or any [{DEFAULT_STATUSES}]", common=True),
    LoadFlag(("--expect-header",), "expect.headers", expected_header, "'NAME[: REGEX]'",
         "a header that right answers have; repeatable", repeat=True),
    LoadFlag(("--expect-body",), "expect.equals", str, "TEXT", "the decoded body is exactly TEXT"),
    LoadFlag(("--expect-match",), "expect.matches", str, "REGEX", "REGEX is found in the decoded body"),
    LoadFlag(("--expect-length",), "expect.length", parse.natural, "BYTES", "the decoded body is so long"),
    LoadFlag(("--check-every",), "expect.check_every", parse.whole, "N",
         "check headers and body of every N-th answer only [1]; the status of all"),
)  # fmt: skip

CONNECTIONS = (
    LoadFlag(("--timeout",), "timeout_ns", parse.time_ns, "TIME", "give a request up after so long [5s]"),
    LoadFlag(("--no-keep-alive",), "keep_alive", None, "", "a new connection for each request", switch=False),
    LoadFlag(("--requests-per-connection",), "requests_per_connection", parse.whole, "N",
         "reconnect after so many requests"),
    LoadFlag(("--pipeline",), "pipeline", parse.whole, "N", "requests in flight on a connection [1]"),
    LoadFlag(("--no-resend",), "resend", None, "",
         "do not send requests again that the server says it did not process: they failed", switch=False),
    LoadFlag(("--connect-rate",), "connections_per_s", parse.rate_per_s, "RATE",
         "open the first connections at this rate, not all at once"),
    LoadFlag(("--cookies",), "cookies", None, "", "keep cookies, for each connection its own"),
    LoadFlag(("--follow",), "redirects", parse.whole, "N",
         "follow up to N redirects of a request, within the URL's host"),
)  # fmt: skip

WHERE = (
    LoadFlag(("--unix-socket",), "route.unix", Path, "PATH", "connect to this socket"),
    LoadFlag(("--address",), "route.address", address, "IP[:PORT]",
         "connect here, whatever the URL's host resolves to; repeatable: used in turn", repeat=True),
    LoadFlag(("--resolve",), "route.resolve", resolution, "HOST:PORT:IP[,IP…]",
         "the addresses of the URL's host, in the manner of curl"),
    LoadFlag(("-4", "--ipv4"), "route.ipv4", None, "", "use IPv4 addresses of the host only"),
    LoadFlag(("-6", "--ipv6"), "route.ipv6", None, "", "use IPv6 addresses of the host only"),
    LoadFlag(("--source",), "source_addresses", source, "IP",
         "connect from this address; repeatable: used in turn", repeat=True),
    LoadFlag(("-x", "--proxy"), "proxy", proxy, "[http://]HOST:PORT",
         "go through a proxy, by CONNECT for https"),
)  # fmt: skip

TLS = (
    LoadFlag(("--cacert",), "tls.ca_file", parse.readable_file, "PATH",
         "trust these authorities (PEM) instead of the system's"),
    LoadFlag(("--cert",), "tls.certificate_file", parse.readable_file, "PATH", "client certificate (PEM)"),
    LoadFlag(("--key",), "tls.key_file", parse.readable_file, "PATH", "its key (PEM)"),
    LoadFlag(("--sni",), "tls.server_name", str, "NAME", "ask for, and check, this name [the URL's host]"),
    LoadFlag(("--alpn",), "tls.alpn", alpn, "LIST",
         "HTTP/1: offer these protocols; none offers none [http/1.1]"),
    LoadFlag(("--tls-min",), "tls.least", str, "{1.2,1.3}", "lowest version [1.2]"),
    LoadFlag(("--tls-max",), "tls.most", str, "{1.2,1.3}", "highest version [1.3]"),
    LoadFlag(("-k", "--insecure"), "tls.insecure", None, "", "accept any certificate",
         common=True),
    LoadFlag(("--no-resumption",), "tls.resumption", None, "", "a full handshake each time", switch=False),
)  # fmt: skip

GROUPS = (
    ("how much", HOW_MUCH),
    ("at a rate", AT_A_RATE),
    ("what is sent", WHAT),
    ("what a right answer is", WHAT_IS_RIGHT),
    ("connections", CONNECTIONS),
    ("where it goes", WHERE),
    ("TLS, for an https URL", TLS),
)

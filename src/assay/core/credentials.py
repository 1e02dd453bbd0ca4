"""The one place that hides: which parts of command lines, URLs, headers and plans may be credentials.

It goes by kind, not by name: every value of a header, a cookie, a query, a variable of the environment, and
every body and user info is shown as its token (`vault`), but for lists of what is known to be harmless. What
a command's own flags hold is hidden where their name says so. Rather a harmless value is hidden than a
password kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from assay.core import vault
from assay.core.errors import InputError
from assay.core.vault import token

if TYPE_CHECKING:
    from assay.model.measurement import Measurement
    from assay.model.plan import Expect, LoadPlan, Request

_FLAGS = {
    "ab": ("A", "P", "H", "C"),
    "wrk": ("H", "--header"),
    "h2load": ("H", "--header"),
    "bombardier": ("H", "--header", "b", "--body"),
}
"""By drop-in, the flags whose values may hold credentials."""
_FLAGS_OF_VERBS = (
    "H", "--header", "b", "--body", "F", "--form", "u", "--user", "--bearer", "--secret", "--curl",
    "--expect-header", "--expect-body", "--expect-match",
)  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAFE_HEADERS = _words(
    """
    accept accept-charset accept-encoding accept-language allow cache-control connection content-encoding
    content-length content-type date expect host if-modified-since if-none-match keep-alive last-modified
    location origin pragma range server te trailer transfer-encoding upgrade user-agent vary
    """
)
_SAFE_QUERY = _words(
    """
    count dir format fmt lang lastname limit locale max min n offset order page per_page queries size sort
    type v version
    """
)
_SAFE_VARIABLES = _words(
    """
    addr app_env classpath cores debug env gc go111module godebug gogc gomaxprocs gomemlimit home host
    java_home java_opts java_tool_options jdk_java_options lang lc_all ld_library_path ld_preload level listen
    log_level mode node_env node_options omp_num_threads path port pythonpath rack_env rails_env
    rust_backtrace rust_log server_name term threads tokio_worker_threads tz uv_threadpool_size
    web_concurrency workers
    """
)
_SECRET = re.compile(
    r"(?i:passw|passphrase|secret|token|credential|(?:api|access|private)[_-]?key"
    r"|(?:pass|pwd|auth|cookie|jwt|dsn|bearer|session(?:_?id)?)$"
    r"|(?:^|[^a-z0-9])(?:key|pin|sig|pw|sas|otp|creds|authorization|signature)$)"
    r"|[a-z0-9](?:Key|Pin|Sig|Pw|Sas|Otp|Creds|Authorization|Signature)$"
)
"""Names of what is no one else's business, whatever its value looks like."""
_VARIABLE = re.compile(r"env:[A-Z_][A-Z0-9_]*")
_REFERENCE = re.compile(rf"(?:\$\w+|\$?\{{[^{{}}]*\}})+|{_VARIABLE.pattern}")
"""What a shell or Assay puts in: no value at all."""
_SWITCH = re.compile(r"(?i:true|false|on|off|yes|no|none|null|auto)?")
_HARMLESS = re.compile(
    r"(?:localhost|[.:\[\]]|\d{1,9}(?!\d)|\$\w+|\$?\{[^{}]*\})*(?:ns|us|µs|ms|[smhkKMG]i?[bB]?|%)?"
)
"""Numbers, sizes, times and addresses: too little to be a credential."""
_USER_INFO = re.compile(r"((?<=//)|(?<![\w/@.:=-])(?=[^\s/@:'\"=]+:))([^/?#\s'\"]+)@(?=[\w\[{$])")
_QUERY = re.compile(r"(?<=[?&#])([\w.\-\[\]%~]+)=([^&#\s'\"]*)")
_NAMED = re.compile(
    r"(?<![\w.])(?P<quote>[\"']?)(?P<name>[A-Za-z_][\w.-]*)(?P=quote)(?P<is>\s*[:=]\s*)"
    r"(?P<value>\"[^\"]*\"|'[^']*'|(?:(?:Bearer|Basic|Digest|Token)\s+)?(?:\$?\{[^}]*\}|[^\s\"'&,;})])+)"
)
_LOOKS_SECRET = re.compile(
    r"\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_|AKIA)\w[\w-]{11,}"
    r"|(?<![\w/+-])(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d\w*\d)[A-Za-z0-9]{24,}(?![\w/+-])"
)
"""Tokens by their shape (JWT, those of well-known services, long random words), wherever they stand."""

_WORDS = re.compile(
    r"(?P<gap>\s+|[;|()<>]+|&&|&(?=\s|$))|"
    r"(?P<word>(?:[^\s'\"\\;|()<>&]|&(?!&|\s|$)|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|['\"\\])+)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(.*)", re.DOTALL)
_BEFORE_COMMANDS = frozenset({"env", "exec", "export", "nohup", "sudo", "time", "nice", "command"})
_FLAG_AND_VALUE = re.compile(r"(?<!\S)(--?([\w.-]+)\s+)((?!-)(?:'[^']*'|\S+))")
_HEADER_FLAGS = ("-H", "--header", "-header")
_VARIABLE_FLAGS = ("-e", "--env", "-env")


def hidden(text: str) -> str:
    """A shell command, or a URL, with tokens for what may be credentials in it."""
    return hidden_url(_in_shell(_url_parts(text)))


def hidden_by_name(text: str) -> str:
    """A shell command with tokens only for what its names and its look tell: who reads it is to judge what
    would run, which a variable of any name may change."""

    def named(found: re.Match[str]) -> str:
        flag, name, value = found.groups()
        return flag + _unquoted(
            value, lambda said: hidden_value(name, said) if _SECRET.search(name) else said
        )

    return hidden_url(_FLAG_AND_VALUE.sub(named, text))


def hidden_url(text: str) -> str:
    """A URL, a request target or any other text with tokens for what may be credentials in it."""

    def named(found: re.Match[str]) -> str:
        begin = found[0][: found.start("value") - found.start()]
        if not _SECRET.search(found["name"]):
            return begin + _NAMED.sub(named, found["value"])
        return begin + _unquoted(found["value"], lambda value: _authorization(found["name"], value))

    return _LOOKS_SECRET.sub(lambda found: token(found[0]), _NAMED.sub(named, _url_parts(text)))


def hidden_header(name: str, value: str) -> str:
    """The value of a header with tokens for what may be credentials in it."""
    if name.lower() in _SAFE_HEADERS:
        return hidden_url(value)
    if name.lower() in ("cookie", "set-cookie"):
        pairs = (pair.partition("=") for pair in value.split(";"))
        return ";".join(f"{key}={token(said)}" if said else key and token(key) for key, _, said in pairs)
    return _authorization(name, value)


def hidden_value(name: str, value: str, harmless: Collection[str] = ()) -> str:
    """The value of what is called so, or its token where it may be a credential."""
    if vault.TOKEN.fullmatch(value) or _REFERENCE.fullmatch(value) or _SWITCH.fullmatch(value):
        return value
    if _SECRET.search(name):
        return value if _is_file(value) else token(value)
    return value if name.lower() in harmless or _HARMLESS.fullmatch(value) else token(value)


def hidden_plan(plan: LoadPlan) -> LoadPlan:
    """The plan with tokens for what may be credentials in its URL, targets, headers and bodies."""
    from msgspec import structs

    requests = tuple(map(hidden_request, plan.requests))
    return structs.replace(plan, url=hidden_url(plan.url), requests=requests)


def hidden_request(request: Request) -> Request:
    """The request with tokens for what may be credentials; what a right body is stays as it is."""
    from msgspec import structs

    return structs.replace(
        request,
        target=hidden_url(request.target),
        headers=tuple((name, hidden_header(name, value)) for name, value in request.headers),
        head=request.head and token(request.head),
        body=request.body and token(request.body),
        form=tuple(structs.replace(one, text=one.text and token(one.text)) for one in request.form),
        expect=request.expect and _hidden_expect(request.expect),
    )


def holds(text: str) -> bool:
    """Whether something of the text is hidden."""
    return vault.TOKEN.search(text) is not None


def check_names(names: Iterable[str]) -> None:
    """InputError where one of them, which reports and files bear, would hold what may be a credential."""
    for name in names:
        if holds(hidden(name)):
            problem = f"a server would be called {hidden(name)!r}, which hides what may be a credential"
            raise InputError(problem, "say what it is called: --name NAME, one for each")


def shown(words: Sequence[str]) -> tuple[str, ...]:
    """The words after the program's name with tokens for what may be credentials.

    A letter of a bundle counts wherever it may be a flag.
    """
    if not words:
        return ()
    flags = _FLAGS.get(words[0], _FLAGS_OF_VERBS)
    letters = "".join(flag for flag in flags if len(flag) == 1)
    bundle = re.compile(rf"(-[A-Za-z0-9]*?[{letters}])(=?)(.*)", re.DOTALL)
    found, is_value = [], False
    for word in words:
        name, equals, value = word.partition("=")
        bundled = None if word.startswith("--") else bundle.fullmatch(word)
        if is_value:
            is_value, made = False, _of_flag(word)
        elif word.startswith("--"):
            is_value = word in flags
            made = f"{name}={_of_flag(value)}" if equals and name in flags else hidden(word)
        elif bundled:
            is_value = not bundled[3]
            made = bundled[1] + bundled[2] + _of_flag(bundled[3])
        else:
            made = hidden(word)
        found.append(made)
    return tuple(found)


def command() -> tuple[str, ...]:
    """The command line that runs now, as a record may keep it."""
    return ("assay", *shown(sys.argv[1:]))


def without(text: str, words: Sequence[str], *, parts: bool = True) -> str:
    """A text with tokens in place of every secret that the words hold or this process knows."""
    shown(words)
    return vault.scrubbed(text, parts=parts)


def without_secrets(measurement: Measurement) -> Measurement:
    """The measurement, whose examples of failures are a server's words, with tokens for secrets in them."""
    from msgspec import structs

    outcomes = tuple(
        structs.replace(one, example=vault.scrubbed(one.example)) if one.example else one
        for one in measurement.outcomes
    )
    return (
        measurement if outcomes == measurement.outcomes else structs.replace(measurement, outcomes=outcomes)
    )


def _of_flag(value: str) -> str:
    """The value of a flag for credentials: of a header and a form its name stays."""
    if _VARIABLE.fullmatch(value):  # a body in braces is no reference
        return value
    header, field = _HEADER.fullmatch(value), re.fullmatch(r"([\w.-]+)=(.*)", value, re.DOTALL)
    if header and " " in value and not value.startswith("{"):
        return f"{header[1]}: {hidden_header(header[1], header[2])}"
    return f"{field[1]}={token(field[2])}" if field and field[2] else value and token(value)


def _hidden_expect(expect: Expect) -> Expect:
    """What a right answer is, without what may be a credential that it hands out."""
    from msgspec import structs

    headers = tuple(
        structs.replace(one, pattern=one.pattern and hidden_header(one.name, one.pattern))
        for one in expect.headers
    )
    return structs.replace(expect, headers=headers)


def _url_parts(text: str) -> str:
    """The text with tokens for user info and the values of queries."""
    text = _USER_INFO.sub(
        lambda found: found[0] if _REFERENCE.fullmatch(found[2]) else f"{token(found[2])}@", text
    )
    return _QUERY.sub(lambda found: f"{found[1]}={hidden_value(found[1], found[2], _SAFE_QUERY)}", text)


def _is_file(text: str) -> bool:
    """Whether it names a file that is there: not it is the secret, but what it holds."""
    return ("/" in text or "." in text) and os.path.isfile(text)  # noqa: PTH113 - any text, also no path


def _authorization(name: str, value: str) -> str:
    """A value with its scheme (RFC 9110, 11.4) left readable."""
    scheme, blank, said = value.partition(" ")
    if blank and scheme.lower() in ("basic", "bearer", "digest", "token", "negotiate", "apikey"):
        return f"{scheme} {hidden_value('token', said.strip())}"
    return hidden_value(name, value)


def _in_shell(text: str) -> str:
    """A shell command with tokens for the values of its variables, headers and flags."""
    found, begins, before = [], True, ""
    for part in _WORDS.finditer(text):
        word = part["word"]
        if word is None:
            if part[0].strip(" \t"):
                begins, before = True, ""
            found.append(part[0])
            continue
        found.append(_word(word, before, begins=begins))
        begins = begins and (
            bool(_ASSIGNED.fullmatch(word)) or word in _BEFORE_COMMANDS or word.startswith("-")
        )
        before = word
    return "".join(found)


def _word(word: str, before: str, *, begins: bool) -> str:
    flag = before if before.startswith("-") and "=" not in before else ""
    assigned = _ASSIGNED.fullmatch(word)
    if assigned and (begins or flag in _VARIABLE_FLAGS):
        name, value = assigned.groups()
        return f"{name}=" + _unquoted(value, lambda said: hidden_value(name, said, _SAFE_VARIABLES))
    return _unquoted(word, lambda said: _argument(said, flag, quoted=said != word))


def _argument(said: str, flag: str, *, quoted: bool) -> str:
    header = _HEADER.fullmatch(said)
    if header and (flag in _HEADER_FLAGS or (quoted and _SECRET.search(header[1]))):
        return said[: header.start(2)] + hidden_header(header[1], header[2])
    if flag in ("-u", "--user") and ":" in said:
        return hidden_value("user", said)
    if flag and _SECRET.search(flag.lstrip("-")) and not said.startswith("-"):
        return hidden_value(flag.lstrip("-"), said)
    return _in_shell(said) if quoted else said


def _unquoted(text: str, hide: Callable[[str], str]) -> str:
    """What `hide` makes of a text, within the quotes that it stands in."""
    quote = text[:1]
    if quote in ("'", '"') and len(text) > 1 and text.endswith(quote) and quote not in text[1:-1]:
        return quote + hide(text[1:-1]) + quote
    return hide(text)

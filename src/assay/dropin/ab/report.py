"""ab's report as text and as HTML tables (`-w`), its words for TLS, and its files (`-e`, `-g`)."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from assay.dropin.ab.figures import AbFigures, TimesRow, times_us
from assay.dropin.ab.flags import AbFlags
from assay.dropin.reports import cipher, columns

_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH prime256v1 256 bits",
    "secp384r1": "ECDH secp384r1 384 bits",
    "secp521r1": "ECDH secp521r1 521 bits",
}
_LENGTH = rb"(?:[\x00-\x7f]|\x81.|\x82..)"
_RSA_KEY = re.compile(
    rb"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03%b\x00\x30%b\x02(%b)" % ((_LENGTH,) * 3),
    re.DOTALL,
)
"""rsaEncryption, which stands before a key alone (RFC 3279), up to the length of its modulus."""
_CURVES = {
    bytes.fromhex("2a8648ce3d030107"): 256,
    bytes.fromhex("2b81040022"): 384,
    bytes.fromhex("2b81040023"): 521,
    bytes.fromhex("06032b6570032100"): 253,  # Ed25519's, before a key
}


class Security(msgspec.Struct, frozen=True):
    """Version, cipher, bits of the server's key and of the cipher; the key exchange; the name asked for."""

    protocol: str
    temporary_key: str
    server_name: str


def security(session: tuple[str, str, str, bytes], host: str, names_server: bool) -> Security:
    """What a session's version, suite, group and certificate (DER) are called in the report."""
    version, suite, group, certificate = session
    bits = 256 if "256_GCM" in suite or "CHACHA20" in suite else 128
    parts = (
        version.replace("TLS ", "TLSv"),
        cipher(suite),
        str(key_bits(certificate)),
        str(bits),
    )
    named = host if names_server and not _is_address(host) else ""
    return Security(",".join(parts), _GROUPS.get(group, group), named)


def key_bits(certificate: bytes) -> int:
    """The length of a certificate's public key (DER); 0 where it is neither RSA nor of a known curve."""
    if found := _RSA_KEY.search(certificate):
        length = found[1][0] if len(found[1]) == 1 else int.from_bytes(found[1][1:])
        return int.from_bytes(certificate[found.end() :][:length]).bit_length()
    return next((bits for curve, bits in _CURVES.items() if curve in certificate), 0)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


_PERCENTILES = (50, 66, 75, 80, 90, 95, 98, 99)


class ServerInfo(msgspec.Struct, frozen=True):
    """What the report says beside figures: the `Server` field of the first answer, and how TLS was spoken."""

    software: str
    security: Security | None


def ms(time_us: int) -> int:
    """µs as whole ms, rounded."""
    return (time_us + 500) // 1000


def labelled(label: str, value: object) -> str:
    """A line of the report's upper part."""
    return f"{label + ':':<24}{value}"


def report(flags: AbFlags, seen: ServerInfo, figures: AbFigures) -> str:
    """The whole text, from the two empty lines on."""
    lines = ["", "", *_where(flags, seen), ""]
    length = "Variable" if flags.variable_length else f"{figures.document_bytes} bytes"
    lines += [labelled("Document Path", flags.url.path), labelled("Document Length", length), ""]
    counts = _counts(flags, figures, ("connect", "receive", "length", "exceptions"))
    lines += [labelled(label, value) if label else f"   {value}" for label, value in counts]
    lines += _rates(flags, figures)
    if figures.done:
        lines += ["", *_connection_times(flags, figures)]
    if figures.done > 1 and flags.layout.percentiles:
        lines += ["", *_served(figures)]
    return "\n".join(lines) + "\n"


def server_lines(flags: AbFlags, seen: ServerInfo) -> Iterator[tuple[str, str]]:
    """The label and value of the lines that say where the load went."""
    yield "Server Software", seen.software
    yield "Server Hostname", flags.url.host
    yield "Server Port", str(flags.url.port)


def _where(flags: AbFlags, seen: ServerInfo) -> Iterator[str]:
    for label, value in server_lines(flags, seen):
        yield labelled(label, value)
    if seen.security is not None:
        yield labelled("SSL/TLS Protocol", seen.security.protocol)
        if seen.security.temporary_key:
            yield labelled("Server Temp Key", seen.security.temporary_key)
        if seen.security.server_name:
            yield labelled("TLS Server Name", seen.security.server_name)


def _counts(flags: AbFlags, figures: AbFigures, kinds: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Labels and values that text and tables share; failures of these `kinds` have no label."""
    yield "Concurrency Level", flags.concurrency
    yield "Time taken for tests", f"{figures.time_s:.3f} seconds"
    yield "Complete requests", figures.done
    failures = figures.failures
    yield "Failed requests", failures.total
    if failures.total:
        yield "", f"({', '.join(f'{kind.capitalize()}: {getattr(failures, kind)}' for kind in kinds)})"
    if figures.not_2xx:
        yield "Non-2xx responses", figures.not_2xx
    if flags.keep_alive:
        yield "Keep-Alive requests", figures.kept_alive
    yield "Total transferred", f"{figures.bytes_read} bytes"
    if flags.body is not None:
        yield "Total body sent", figures.bytes_written
    yield "HTML transferred", f"{figures.body_bytes} bytes"


def _rates(flags: AbFlags, figures: AbFigures) -> Iterator[str]:
    done, time_s = figures.done, figures.time_s
    if not (done and time_s):
        return
    each_ms = time_s * 1000 / done
    yield labelled("Requests per second", f"{done / time_s:.2f} [#/sec] (mean)")
    yield labelled("Time per request", f"{flags.concurrency * each_ms:.3f} [ms] (mean)")
    across = "(mean, across all concurrent requests)"
    yield labelled("Time per request", f"{each_ms:.3f} [ms] {across}")
    received = figures.bytes_read / 1024 / time_s
    yield labelled("Transfer rate", f"{received:.2f} [Kbytes/sec] received")
    if flags.body is not None:
        sent = figures.bytes_written / 1024 / time_s
        yield f"{'':24}{sent:.2f} kb/s sent"
        yield f"{'':24}{received + sent:.2f} kb/s total"


def _connection_times(flags: AbFlags, figures: AbFigures) -> Iterator[str]:
    yield "Connection Times (ms)"
    if not flags.layout.confidence:
        yield "              min   avg   max"
        for row in figures.rows:
            yield f"{row.label + ':':<12}{ms(row.minimum):5d} {ms(row.mean):5d}{ms(row.maximum):5d}"
        return
    yield "              min  mean[+/-sd] median   max"
    for row in figures.rows:
        yield (
            f"{row.label + ':':<12}{ms(row.minimum):5d} {ms(row.mean):4d} {row.deviation / 1000:5.1f} "
            f"{ms(row.median):6d} {ms(row.maximum):7d}"
        )
    for row in figures.rows:
        yield from _doubt(row)


def _doubt(row: TimesRow) -> Iterator[str]:
    """ab's own test of a skewed distribution: the mean far from the median."""
    apart = abs(ms(row.mean) - ms(row.median))
    deviation_ms = row.deviation / 1000
    if apart > 2 * deviation_ms:
        yield f"ERROR: The median and mean for the {row.name} are more than twice the standard"
        yield "       deviation apart. These results are NOT reliable."
    elif apart > deviation_ms:
        yield f"WARNING: The median and mean for the {row.name} are not within a normal deviation"
        yield "        These results are probably not that reliable."


def _served(figures: AbFigures) -> Iterator[str]:
    yield "Percentage of the requests served within a certain time (ms)"
    for percentile in _PERCENTILES:
        yield f"  {percentile}%  {ms(figures.percentile_us(percentile)):5d}"
    yield f" 100%  {ms(int(figures.totals_us[-1])):5d} (longest request)"


_NO_LABEL = "&nbsp;"


def page(flags: AbFlags, seen: ServerInfo, figures: AbFigures) -> str:
    """The tables. They hold no percentiles, no waiting time and nothing of TLS, as in ab."""
    table, row, cell = flags.layout.attributes
    lines = ["", "", f"<table {table}>"]
    for label, value in _html_lines(flags, seen, figures):
        if label is None:
            lines.append(f"<tr {row}><td colspan=4 {cell} >   {value}</td></tr>")
        else:
            kind = "td" if label == _NO_LABEL else "th"
            head = f"<{kind} colspan=2 {cell}>{label}</{kind}>"
            lines.append(f"<tr {row}>{head}<td colspan=2 {cell}>{value}</td></tr>")
    lines += [*_html_times(flags, figures), "</table>"]
    return "\n".join(lines) + "\n"


def _html_lines(flags: AbFlags, seen: ServerInfo, figures: AbFigures) -> Iterator[tuple[str | None, object]]:
    for label, value in server_lines(flags, seen):
        yield f"{label}:", value
    yield "Document Path:", flags.url.path
    yield "Document Length:", "Variable" if flags.variable_length else f"{figures.document_bytes} bytes"
    for label, count in _counts(flags, figures, ("connect", "length", "exceptions")):
        yield f"{label}:" if label else None, count
    yield from _html_rates(flags, figures)


def _html_rates(flags: AbFlags, figures: AbFigures) -> Iterator[tuple[str | None, str]]:
    if not (figures.done and figures.time_s):
        return
    yield "Requests per second:", f"{figures.done / figures.time_s:.2f}"
    received = figures.bytes_read / 1024 / figures.time_s
    yield "Transfer rate:", f"{received:.2f} kb/s received"
    if flags.body is not None:
        sent = figures.bytes_written / 1024 / figures.time_s
        yield _NO_LABEL, f"{sent:.2f} kb/s sent"
        yield _NO_LABEL, f"{received + sent:.2f} kb/s total"


def _html_times(flags: AbFlags, figures: AbFigures) -> Iterator[str]:
    _, row, cell = flags.layout.attributes
    yield f"<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>"
    heads = "   ".join(f"<th {cell}>{name}</th>" for name in ("min", "avg", "max"))
    yield f"<tr {row}><th {cell}>&nbsp;</th> {heads}</tr>"
    for times in figures.rows:
        if times.label != "Waiting":
            values = (ms(times.minimum), ms(times.mean), ms(times.maximum))
            cells = "".join(f"<td {cell}>{value:5d}</td>" for value in values)
            yield f"<tr {row}><th {cell}>{times.label}:</th>{cells}</tr>"


class Unwritable(Exception):
    """A file cannot be written; the line is ab's."""


def write_csv(path: Path, figures: AbFigures) -> None:
    """Write 0 to 100 percent of the requests, and the time within which so many ended."""
    rows = [f"{percent},{figures.row_of_csv_us(percent) / 1000:.3f}" for percent in range(101)]
    _write_file(path, ["Percentage served,Time in ms", *rows], "CSV")


def write_gnuplot(path: Path, log: bytes, started_at_unix_ns: int) -> None:
    """Write each request with its times, shortest first. Times of day are local, as in ab."""
    table = columns(log)
    times = times_us(table)
    lines = ["starttime\tseconds\tctime\tdtime\tttime\twait"]
    for index in sorted(range(len(table)), key=times["Total"].__getitem__):
        seconds = (started_at_unix_ns + table.begun_ns[index]) // 1_000_000_000
        kinds = ("Connect", "Processing", "Total", "Waiting")
        numbers = "\t".join(str(ms(times[kind][index])) for kind in kinds)
        lines.append(f"{time.ctime(seconds)}\t{seconds}\t{numbers}")
    _write_file(path, lines, "gnuplot")


def _write_file(path: Path, lines: Iterable[str], kind: str) -> None:
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as problem:
        raise Unwritable(f"Cannot open {kind} output file: {problem.strerror}") from None

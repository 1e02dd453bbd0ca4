"""ab's report as HTML tables (`-w`)."""

from __future__ import annotations

from collections.abc import Iterator

from assay.dropin.ab.figures import AbFigures
from assay.dropin.ab.flags import AbFlags
from assay.dropin.ab.report import ServerInfo, ms, server_lines

_NO_LABEL = "&nbsp;"


def page(flags: AbFlags, seen: ServerInfo, figures: AbFigures) -> str:
    """The tables. They hold no percentiles, no waiting time and nothing of TLS, as in ab."""
    table, row, cell = flags.layout.attributes
    lines = ["", "", f"<table {table}>"]
    for label, value in _lines(flags, seen, figures):
        if label is None:
            lines.append(f"<tr {row}><td colspan=4 {cell} >   {value}</td></tr>")
        else:
            kind = "td" if label == _NO_LABEL else "th"
            head = f"<{kind} colspan=2 {cell}>{label}</{kind}>"
            lines.append(f"<tr {row}>{head}<td colspan=2 {cell}>{value}</td></tr>")
    lines += [*_connection_times(flags, figures), "</table>"]
    return "\n".join(lines) + "\n"


def _lines(flags: AbFlags, seen: ServerInfo, figures: AbFigures) -> Iterator[tuple[str | None, str]]:
    for label, value in server_lines(flags, seen):
        yield f"{label}:", value
    yield "Document Path:", flags.url.path
    yield "Document Length:", "Variable" if flags.variable_length else f"{figures.document_bytes} bytes"
    yield "Concurrency Level:", str(flags.concurrency)
    yield "Time taken for tests:", f"{figures.time_s:.3f} seconds"
    yield "Complete requests:", str(figures.done)
    failures = figures.failures
    yield "Failed requests:", str(failures.total)
    if failures.total:
        parts = f"Connect: {failures.connect}, Length: {failures.length}, Exceptions: {failures.exceptions}"
        yield None, f"({parts})"
    if figures.not_2xx:
        yield "Non-2xx responses:", str(figures.not_2xx)
    if flags.keep_alive:
        yield "Keep-Alive requests:", str(figures.kept_alive)
    yield "Total transferred:", f"{figures.bytes_read} bytes"
    if flags.body is not None:
        yield "Total body sent:", str(figures.bytes_written)
    yield "HTML transferred:", f"{figures.body_bytes} bytes"
    yield from _rates(flags, figures)


def _rates(flags: AbFlags, figures: AbFigures) -> Iterator[tuple[str | None, str]]:
    if not (figures.done and figures.time_s):
        return
    yield "Requests per second:", f"{figures.done / figures.time_s:.2f}"
    received = figures.bytes_read / 1024 / figures.time_s
    yield "Transfer rate:", f"{received:.2f} kb/s received"
    if flags.body is not None:
        sent = figures.bytes_written / 1024 / figures.time_s
        yield _NO_LABEL, f"{sent:.2f} kb/s sent"
        yield _NO_LABEL, f"{received + sent:.2f} kb/s total"


def _connection_times(flags: AbFlags, figures: AbFigures) -> Iterator[str]:
    _, row, cell = flags.layout.attributes
    yield f"<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>"
    heads = "   ".join(f"<th {cell}>{name}</th>" for name in ("min", "avg", "max"))
    yield f"<tr {row}><th {cell}>&nbsp;</th> {heads}</tr>"
    for times in figures.rows:
        if times.label != "Waiting":
            values = (ms(times.minimum), ms(times.mean), ms(times.maximum))
            cells = "".join(f"<td {cell}>{value:5d}</td>" for value in values)
            yield f"<tr {row}><th {cell}>{times.label}:</th>{cells}</tr>"

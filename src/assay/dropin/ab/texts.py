"""What ab says around its report, and while the load goes on."""

from __future__ import annotations

from assay.core import console
from assay.dropin.ab.flags import AbFlags
from assay.model.measurement import Measurement, Snapshot

_FEWEST_BETWEEN = 100
_MOST_WITHOUT = 150


def step(flags: AbFlags) -> int:
    """After how many requests a line is due; 0 for a load that shows none."""
    if not flags.layout.progress or flags.requests <= _MOST_WITHOUT:
        return 0
    return max(_FEWEST_BETWEEN, flags.requests // 10)


class AbProgress:
    """Says how many requests have ended, each time a step more have."""

    def __init__(self, flags: AbFlags) -> None:
        """Say nothing yet."""
        self._step = step(flags)
        self._said = 0

    def watch(self, snapshot: Snapshot) -> None:
        """Catch up with a load that goes on."""
        self._catch_up(snapshot.completed + snapshot.failed)

    def end(self, measured: Measurement, *, finished: bool) -> None:
        """Say the rest; a load that came to its end says so."""
        done = measured.completed + measured.failed
        self._catch_up(done)
        if finished and self._step:
            console.note(f"Finished {done} requests")
        elif finished:
            console.write("..done")

    def _catch_up(self, done: int) -> None:
        while self._step and self._said + self._step <= done:
            self._said += self._step
            console.note(f"Completed {self._said} requests")


# Flags, columns and order are ab's: people and scripts look for them. Descriptions are ours.
USAGE = """\
Usage: ab [options] [http[s]://]hostname[:port]/path
Options are:
    -n requests     How many requests to send
    -c concurrency  How many of them at one time
    -t timelimit    Longest time to go on, in seconds
                    Sets -n to 50000
    -s timeout      Longest wait for an answer, in seconds
                    30 where it is not given
    -b windowsize   Bytes of the kernel's buffers of a connection
    -B address      Local address to connect from
    -p postfile     File to send with POST. -T says what it is
    -u putfile      File to send with PUT. -T says what it is
    -T content-type Content-type of what -p and -u send, such as
                    'application/x-www-form-urlencoded'
                    'text/plain' where it is not given
    -v verbosity    2 and more print requests and answers
    -w              Print the report as HTML tables
    -i              Ask with HEAD
    -x attributes   Attributes of the HTML table
    -y attributes   Attributes of its rows
    -z attributes   Attributes of its cells
    -C attribute    Send a cookie, such as 'Apache=1234'. (repeatable)
    -H attribute    Send a header line, such as 'Accept-Encoding: gzip'
                    It follows ab's own lines. (repeatable)
    -A attribute    Basic authentication with the server,
                    user and password with a colon between them.
    -P attribute    Basic authentication with the proxy,
                    user and password with a colon between them.
    -X proxy:port   Connect to this proxy
    -V              Print the version
    -k              Keep connections alive
    -d              Leave out the table of percentiles.
    -S              Leave out deviations, medians and warnings.
    -q              Leave out the progress of more than 150 requests
    -l              Take documents of any length (of dynamic pages)
    -g filename     Write every request to a file for gnuplot.
    -e filename     Write the percentiles to a CSV file
    -r              Go on when a connection breaks.
    -m method       Ask with this method
    -h              Print this
    -I              Do not name the server in TLS (SNI)
    -Z ciphersuite  Not supported: TLS chooses the cipher suite
    -f protocol     Version of TLS
                    (TLS1.2, TLS1.3 or ALL)
    -E certfile     PEM file with the client's certificates and key
"""


def banner(html: bool) -> str:
    """Who speaks, with an empty line; as a paragraph of HTML where that is wanted."""
    from assay.core.settings import version

    lines = [
        "This is ApacheBench, Version 2.3 <$Revision: Assay {version} $>",
        "Spoken by Assay, with an engine and words of its own",
        "ApacheBench itself is of The Apache Software Foundation, http://www.apache.org/",
    ]
    if not html:
        return "\n".join(lines).format(version=version()) + "\n\n"
    lines[0] = "This is ApacheBench, Version 2.3 <i>&lt;$Revision: Assay {version} $&gt;</i>"
    body = "".join(f" {line}<br>\n" for line in lines).format(version=version())
    return f"<p>\n{body}</p>\n<p>\n"


def benchmarking(flags: AbFlags) -> str:
    """The line before the load; it goes on with "..done" where no progress is shown."""
    through = f"[through {flags.proxy[0]}:{flags.proxy[1]}] " if flags.proxy else ""
    return f"Benchmarking {flags.url.host} {through}(be patient)" + ("\n" if step(flags) else "...")


def request(flags: AbFlags, head: str) -> str:
    """The head that is sent (verbosity 2)."""
    return f"INFO: {flags.method} header == \n---\n{head}\r\n\n---\n"


def answer(text: bytes, verbosity: int) -> str:
    """What came back: the head and what was read together with it (verbosity 2), the status (3)."""
    status = int(text[9:12])
    lines = [f"LOG: header received:\n{text.decode('latin-1')}"]
    if not 200 <= status <= 299:
        lines.append(f"WARNING: Response code not 2xx ({status})")
    elif verbosity >= 3:
        lines.append(f"LOG: Response code = {status}")
    return "\n".join(lines) + "\n"


def broken_tls(kind: str, has_answer: bool) -> str:
    """What is said of a TLS connection that broke: 5 is OpenSSL's number for an error of the system."""
    number = 5 if kind in ("connect_refused", "reset", "io_error") else 1
    if has_answer or kind == "connect_refused":
        return f"SSL read failed ({number}) - closing connection"
    return f"SSL handshake failed ({number})."

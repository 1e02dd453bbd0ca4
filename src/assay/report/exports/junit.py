"""JUnit XML for CI: a test a case; withheld figures fail it, a server that failed is its error."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as xml

from assay.report import format as fmt
from assay.report.model.rows import Row, interval_words, sections, throughput_words
from assay.values.run import Run

# Characters that XML 1.0 cannot hold, not even escaped (section 2.2).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(run: Run) -> bytes:
    """The run as a test suite."""
    rows = [row for section in sections(run) for row in section.rows]
    suite = xml.Element("testsuite", name=_text(run.header.study_name))
    for row in rows:
        _case(xml.SubElement(suite, "testcase"), run, row)
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", "0")
    root = xml.Element("testsuites", name="assay")
    root.append(suite)
    out = io.BytesIO()
    xml.ElementTree(root).write(out, encoding="utf-8", xml_declaration=True)
    return out.getvalue()


def _case(test: xml.Element, run: Run, row: Row) -> None:
    test.set("classname", _text(run.header.study_name))
    test.set("name", _text(row.case.id))
    spent = sum(
        trial.measurement.measured_ns
        for trial in run.trials
        if trial.case == row.case.id and trial.measurement
    )
    test.set("time", f"{spent / 1e9:.3f}")
    withheld = [finding for finding in row.findings if finding.severity == "withheld"]
    if row.failure is not None:
        told = f"{row.failure.stage} failed: {row.failure.reason}"
        error = xml.SubElement(test, "error", type=_text(row.failure.stage), message=_text(told))
        error.text = _text(row.failure.log_tail)
    elif withheld:
        first = withheld[0]
        failure = xml.SubElement(
            test, "failure", type=first.code, message=_text(f"{first.code} {first.title}")
        )
        failure.text = _text("\n".join(f"{one.code}: {one.evidence}. {one.remedy}" for one in withheld))
    said = [f"throughput {throughput_words(row)} {interval_words(row)}".rstrip()] if row.throughput else []
    said += [f"{one.code} {one.severity}: {one.evidence}" for one in row.findings]
    xml.SubElement(test, "system-out").text = _text("\n".join(said))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", fmt.visible(text, lines=True))

"""JUnit XML for CI: a test a case, which fails where the run's exit code does for its sake."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from xml.etree import ElementTree as xml

from assay.core import units as fmt
from assay.model.design import LoadDesign, SearchDesign
from assay.model.run import Run
from assay.model.trial import Failure
from assay.report.model.rows import Row, failure_words, interval_words, sections, throughput_words

# Characters that XML 1.0 cannot hold, not even escaped (section 2.2).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(run: Run, failing: Mapping[str, str]) -> bytes:
    """The run as a test suite. `failing` are the cases for whose sake its exit code is not 0, and why: both
    are decided in one place, so that no build fails by one and passes by the other."""
    rows = [row for section in sections(run) for row in section.rows]
    suite = xml.Element("testsuite", name=_text(run.header.study_name))
    for row in rows:
        _case(xml.SubElement(suite, "testcase"), run, row, fails=failing.get(row.case.id))
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    root = xml.Element("testsuites", name="assay")
    root.append(suite)
    out = io.BytesIO()
    xml.ElementTree(root).write(out, encoding="utf-8", xml_declaration=True)
    return out.getvalue()


def _case(test: xml.Element, run: Run, row: Row, *, fails: str | None) -> None:
    test.set("classname", _text(run.header.study_name))
    test.set("name", _text(row.case.id))
    spent = sum(
        trial.measurement.measured_ns
        for trial in run.trials
        if trial.case == row.case.id and trial.measurement
    )
    test.set("time", f"{spent / 1e9:.3f}")
    if row.failure is not None and not row.trials:
        _never_measured(test, row.failure, fails=fails is not None)
    elif fails is not None:
        _fails(test, run, row, fails)
    said = [f"throughput {throughput_words(row)} {interval_words(row)}".rstrip()] if row.throughput else []
    said += [failure_words(row)] if row.failure is not None and row.trials else []
    said += [f"{one.code} {one.severity}: {one.evidence}" for one in row.findings]
    xml.SubElement(test, "system-out").text = _text("\n".join(said))


def _never_measured(test: xml.Element, failure: Failure, *, fails: bool) -> None:
    """An error; where nobody counts on the case, it was skipped."""
    told = f"{failure.stage} failed: {failure.reason}"
    if not fails:
        xml.SubElement(test, "skipped", message=_text(told))
        return
    error = xml.SubElement(test, "error", type=_text(failure.stage), message=_text(told))
    error.text = _text(failure.log_tail)


def _fails(test: xml.Element, run: Run, row: Row, why: str) -> None:
    """A failure, named by the rule that took what was asked for, where one did."""
    found = [finding for finding in row.findings if finding.severity == "error"]
    timed = isinstance(run.header.design, SearchDesign | LoadDesign)
    took = next((one for one in found if one.on_throughput == "void"), None)
    if took is None and timed:
        took = next((one for one in found if one.on_times == "void"), None)
    failure = xml.SubElement(
        test,
        "failure",
        type=took.code if took else "unanswered",
        message=_text(f"{took.code} {took.title}" if took else why),
    )
    failure.text = _text("\n".join((why, *(f"{one.code}: {one.evidence}. {one.remedy}" for one in found))))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", fmt.visible(text, lines=True))

"""Answers as JUnit's XML, which nearly every CI shows: one test case for each thing that was asked.

What holds passes; what does not, and what is undecided, fails, since a build should not go on over it; what could not
be looked at is an error, and what was left aside is skipped. The whole report stands in the failure.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

from samesame.report.answers import ASIDE, FAILS, OPEN, UNUSABLE, Answer, inside

TAGS = {FAILS: "failure", OPEN: "failure", UNUSABLE: "error", ASIDE: "skipped"}
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")        # what XML 1.0 cannot hold


def junit(answers: Sequence[Answer]) -> str:
    """The document; a test suite for each verb."""
    document = ET.Element("testsuites", {"name": "samesame", **_counts(answers)})
    for verb in dict.fromkeys(answer.verb for answer in answers):
        own = [answer for answer in answers if answer.verb == verb]
        suite = ET.SubElement(document, "testsuite", {"name": f"samesame {verb}", **_counts(own), "skipped": str(
            sum(answer.state == ASIDE for answer in own))})
        for answer in own:
            _case(suite, answer)
    ET.indent(document)
    text: bytes = ET.tostring(document, encoding="us-ascii", xml_declaration=True)
    return text.decode() + "\n"


def _counts(answers: Sequence[Answer]) -> dict[str, str]:
    tags = Counter(TAGS.get(answer.state, "") for answer in answers)
    return {"tests": str(len(answers)), "failures": str(tags["failure"]), "errors": str(tags["error"]),
            "time": _seconds(sum(answer.seconds for answer in answers))}


def _case(suite: ET.Element, answer: Answer) -> None:
    case = ET.SubElement(suite, "testcase", {"classname": f"samesame.{answer.verb}", "name": _xml(answer.name),
                                             "time": _seconds(answer.seconds)})
    place = next((place for finding in answer.findings for place in finding.places), None)
    if place is not None and (file := inside(place.file)):
        case.set("file", _xml(file))
        case.set("line", str(place.line))
    if tag := TAGS.get(answer.state):
        told = ET.SubElement(case, tag, {"message": _xml(answer.headline)})
        if tag != "skipped":
            told.set("type", answer.findings[0].rule.id if answer.findings else answer.verdict)
            told.text = _xml(answer.report or answer.headline)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _xml(text: str) -> str:
    return NO_XML.sub("\ufffd", text)

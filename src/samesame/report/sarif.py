"""Answers as SARIF 2.1.0, which code hosts and editors show as annotations: one result for each finding.

Paths are told from the root of the repository; a line of an installed library is told from the folder of packages,
which nobody can annotate, so a finding names a line of the user's own first wherever it knows one. A fingerprint
leaves out the line number, so that a finding stays the same one when lines are added above it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from samesame.report.answers import Answer, Finding, Place, Rule, inside
from samesame.versions import versions_of_packages

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT, PACKAGES = "%SRCROOT%", "PACKAGES"


def sarif(answers: Sequence[Answer]) -> str:
    """The document."""
    found = [(answer, finding) for answer in answers for finding in answer.findings]
    rules = {finding.rule.id: finding.rule for _, finding in found}
    run: dict[str, Any] = {
        "tool": {"driver": {
            "name": "samesame", "version": versions_of_packages()["samesame"],
            "rules": [_rule(rule) for rule in rules.values()],
        }},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The root of the repository."}},
            PACKAGES: {"description": {"text": "The folder of installed packages."}},
        },
        "results": [_result(answer, finding, list(rules)) for answer, finding in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    name = "".join(word.capitalize() for word in rule.id.split("-"))
    return {"id": rule.id, "name": name, "shortDescription": {"text": rule.words},
            "defaultConfiguration": {"level": rule.level}}


def _result(answer: Answer, finding: Finding, rules: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ruleId": finding.rule.id,
        "ruleIndex": rules.index(finding.rule.id),
        "level": finding.rule.level,
        "message": {"text": f"{answer.name}: {finding.message}"},
        "partialFingerprints": {"samesame/v1": _fingerprint(answer, finding)},
    }
    where = [_location(place) for place in finding.places]
    if where:
        told["locations"] = where[:1]
        told["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(where[1:], 1)]
    return told


def _fingerprint(answer: Answer, finding: Finding) -> str:
    place = finding.places[0] if finding.places else Place("")
    parts = answer.verb, answer.name, finding.rule.id, inside(place.file) or place.file, place.code
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def _location(place: Place) -> dict[str, Any]:
    own = inside(place.file)
    path = Path(place.file)
    if own is not None:
        artifact = {"uri": _uri(own), "uriBaseId": ROOT}
    elif path.is_absolute():
        artifact = {"uri": path.as_uri()}
    else:
        artifact = {"uri": _uri(path.as_posix()), "uriBaseId": PACKAGES}
    region: dict[str, Any] = {"startLine": place.line}
    if place.code:
        region["snippet"] = {"text": place.code}
    told: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    if place.words:
        told["message"] = {"text": place.words}
    return told


def _uri(path: str) -> str:
    return quote(path, errors="surrogatepass")

"""A finding as a folder: what somebody needs to see it, believe it and mend it.

script.py            at most 20 lines that run with torch alone, and fail while the fault is there
finding.json         everything known, for machines and for --replay
test_regression.py   a test to propose
twin.diff            an equal program that is compiled rightly, where one is known
"""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path

from samesame.evidence import SamesameError
from samesame.fuzz.apart import CRASHED, HUNG, OUT_OF_MEMORY
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.corpus import Finding
from samesame.fuzz.program import Program, decoded, source


def write_finding(folder: Path, finding: Finding) -> Path:
    """The finding's own folder, whole or not at all. Raises SamesameError where it cannot be written."""
    place, making = folder / f"{finding.number:04d}", folder / f".{finding.number:04d}"
    try:
        making.mkdir(exist_ok=True)
        for name, text in files_of(finding).items():
            (making / name).write_text(text)
        if place.exists():
            for old in place.iterdir():
                old.unlink()
            place.rmdir()
        making.rename(place)
    except OSError as error:
        told = f"{place} cannot be written: {error.strerror}"
        raise SamesameError(f"{told}; what was found before is kept: make room, then --resume") from None
    return place


def files_of(finding: Finding) -> dict[str, str]:
    files = {"finding.json": json.dumps(asdict(finding), indent=1) + "\n"}
    if not finding.program:
        return files | {"script.py": script_of_module(finding)}
    program = decoded(finding.program)
    files |= {"script.py": script(finding, program), "test_regression.py": regression_test(finding, program)}
    if finding.twin:
        before, after = (text.splitlines(keepends=True) for text in (source(program), finding.twin))
        files["twin.diff"] = "".join(unified_diff(before, after, "compiled wrongly", "compiled rightly"))
    return files


def script(finding: Finding, program: Program) -> str:
    """A script that shows the fault with torch alone."""
    return "\n".join([f"# {headline(finding)}", *_body(finding, program), *CHECKS[_check(finding)], ""])


def script_of_module(finding: Finding) -> str:
    """A script around a module that was written as text, as it was written."""
    head = [f"# {headline(finding)}", "import torch", "from torch import nn", "import torch.nn.functional as F"]
    made = ["torch.manual_seed(0)", "program = Model().eval()", *BACKENDS[finding.backend].text.splitlines()]
    check = ["torch.testing.assert_close(compiled(*inputs()), program(*inputs()), equal_nan=True)"]
    return "\n".join([*head, finding.text.strip(), *made, *check, ""])


def _body(finding: Finding, program: Program) -> list[str]:
    made = ", ".join(given.text for given in program.inputs)
    return [
        "import torch",
        *(["from torch import inf, nan"] if "nan" in made or "inf" in made else []),
        *source(program).rstrip().splitlines(),
        f"inputs = lambda: [{made}]",
        *BACKENDS[finding.backend].text.splitlines(),
    ]


def error_of(finding: Finding) -> str:
    """The error that the script ends with while the fault is there."""
    return finding.detail.partition(":")[0] if _check(finding) == "crash" else "AssertionError"


VALUES = ("a, b = inputs(), inputs()", "for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):")
CHECKS = {
    "value": (*VALUES, "    torch.testing.assert_close(y, x, equal_nan=True)"),
    "exact": (*VALUES, "    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)"),
    "strides": (
        "for x, y in zip(program(*inputs()), compiled(*inputs())):",
        "    assert x.stride() == y.stride(), (x.stride(), y.stride())",
    ),
    "aliasing": (
        "def shared(f, given):",
        "    places = [x.untyped_storage().data_ptr() for x in [*given, *f(*given)]]",
        "    return [[x == y for x in places] for y in places]",
        "assert shared(program, inputs()) == shared(compiled, inputs())",
    ),
    "crash": ("program(*inputs())                      # eager torch runs it", "compiled(*inputs())"),
}
CHECK_OF = {"wrong strides": "strides", "wrong aliasing": "aliasing"} | dict.fromkeys(
    ("crash", "refusal", CRASHED, HUNG, OUT_OF_MEMORY), "crash"
)


def _check(finding: Finding) -> str:
    floats = any("float" in kind or "complex" in kind for kind in finding.dtypes)
    return CHECK_OF.get(finding.kind, "value" if floats else "exact")


def regression_test(finding: Finding, program: Program) -> str:
    """The same as a test."""
    body = [*_body(finding, program), *CHECKS[_check(finding)]]
    imports = [line for line in body if line.startswith(("import", "from"))]
    rest = [f"    {line}" for line in body if not line.startswith(("import", "from"))]
    name = "_".join(finding.kind.split())
    return "\n".join([*imports, "", "", f"def test_{finding.backend.replace('-', '_')}_{name}():", *rest, ""])


def headline(finding: Finding) -> str:
    """`inductor: wrong value in output 0 (1 of 2 elements); guilty: reinplace_inplaceable_ops`."""
    where = f" in {finding.where}" if finding.where and not finding.kind.startswith("wrong input") else ""
    return f"{finding.backend}: {finding.kind}{where} ({finding.detail}){who(finding)}"


def who(finding: Finding) -> str:
    """The guilty pass, as the end of a line."""
    told = [finding.guilty.get(part) for part in ("backend", "subsystem", "place")]
    return f"; guilty: {' / '.join(part for part in told if part)}" if any(told) else ""

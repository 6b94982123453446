"""A finding as a folder: what somebody needs to see it, believe it and mend it.

script.py            at most 20 lines that run with torch alone, and fail while the fault is there
finding.json         everything known, for machines and for --replay
test_regression.py   a test to propose
twin.diff            the nearest spelling that is compiled rightly, where one is known
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from samesame.fuzz.corpus import Finding
from samesame.fuzz.encode import decoded
from samesame.fuzz.program import Program, source

COMPILED = {
    "inductor": "torch.compile(program)",
    "inductor-dynamic": "torch.compile(program, dynamic=True)",
    "inductor-cpp-wrapper": 'torch.compile(program, options={"cpp_wrapper": True})',
    "inductor-max-autotune": 'torch.compile(program, options={"max_autotune": True})',
    "inductor-freezing": 'torch.compile(program, options={"freezing": True})',
    "inductor-scalar": 'torch.compile(program, options={"cpp.simdlen": 1})',
    "inductor-precise": 'torch.compile(program, options={"emulate_precision_casts": True})',
    "aot_eager": 'torch.compile(program, backend="aot_eager")',
    "aot_eager_decomp_partition": 'torch.compile(program, backend="aot_eager_decomp_partition")',
    "trace": "torch.jit.trace(program, tuple(inputs()), check_trace=False)",
}


def write_finding(folder: Path, finding: Finding) -> Path:
    """The finding's own folder, whole or not at all."""
    place, making = folder / f"{finding.number:04d}", folder / f".{finding.number:04d}"
    making.mkdir(exist_ok=True)
    (making / "finding.json").write_text(json.dumps(asdict(finding), indent=1) + "\n")
    if finding.program:
        program = decoded(finding.program)
        (making / "script.py").write_text(script(finding, program))
        (making / "test_regression.py").write_text(regression_test(finding, program))
    else:
        (making / "script.py").write_text(script_of_module(finding))
    if place.exists():
        for old in place.iterdir():
            old.unlink()
        place.rmdir()
    making.rename(place)
    return place


def script(finding: Finding, program: Program) -> str:
    """A script that shows the fault with torch alone."""
    return "\n".join([f"# {headline(finding)}", *_body(finding, program, "compiled"), *CHECKS[_check(finding)], ""])


def script_of_module(finding: Finding) -> str:
    """A script around a module that was written as text, as it was written."""
    compiled = COMPILED.get(finding.backend, "torch.compile(program)")
    head = [f"# {headline(finding)}", "import torch", "from torch import nn", "import torch.nn.functional as F"]
    made = ["torch.manual_seed(0)", "program = Model().eval()", f"compiled = {compiled}"]
    check = ["torch.testing.assert_close(compiled(*inputs()), program(*inputs()), equal_nan=True)"]
    return "\n".join([*head, finding.text.strip(), *made, *check, ""])


def _body(finding: Finding, program: Program, name: str) -> list[str]:
    made = ", ".join(given.text for given in program.inputs)
    compiled = COMPILED.get(finding.backend, "torch.compile(program)")
    return [
        "import torch",
        *(["from torch import inf, nan"] if "nan" in made or "inf" in made else []),
        *source(program).rstrip().splitlines(),
        f"inputs = lambda: [{made}]",
        f"{name} = {compiled}",
    ]


CHECKS = {
    "value": (
        "a, b = inputs(), inputs()",
        "for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):",
        "    torch.testing.assert_close(y, x, equal_nan=True)",
    ),
    "exact": (
        "a, b = inputs(), inputs()",
        "for x, y in zip([*program(*a), *a], [*compiled(*b), *b]):",
        "    torch.testing.assert_close(y, x, rtol=0, atol=0, equal_nan=True)",
    ),
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


def _check(finding: Finding) -> str:
    known = {
        "wrong strides": "strides",
        "wrong aliasing": "aliasing",
        "crash": "crash",
        "crashed": "crash",
        "hung": "crash",
    }
    exact = "float" not in " ".join(finding.dtypes) and "complex" not in " ".join(finding.dtypes)
    return known.get(finding.kind, "exact" if exact else "value")


def regression_test(finding: Finding, program: Program) -> str:
    """The same as a test."""
    body = [*_body(finding, program, "compiled"), *CHECKS[_check(finding)]]
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

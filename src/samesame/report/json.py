"""The verdict for machines: one JSON object whose shape `check.schema.json` states.

Names are those of `samesame.evidence`, an equality's evidence stands beside it, and nothing is left out that the
terminal shows. The text is plain ASCII and always valid JSON: a number that is not finite is written as the string
"NaN", "Infinity" or "-Infinity". Writing is atomic: a reader sees the old file or the whole new one.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from samesame.evidence import (
    Divergence,
    Drawn,
    Edit,
    Effect,
    Evidence,
    Numeric,
    Picture,
    Reading,
    Refinement,
    Relation,
    Root,
    SamesameError,
    Site,
    Verdict,
)
from samesame.formula import sizes
from samesame.formula.show import unicode_tensor
from samesame.formula.tensor import Tensor
from samesame.graph import Origin
from samesame.report.setting import setting_json, sides

FORMAT = 1


def to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as dicts, lists, strings, numbers and None. Errors are absolute, in float64; times in seconds."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "verdict": verdict.verdict,
        "evidence": str(verdict.evidence),
        "left": verdict.left,
        "right": verdict.right,
        "roots": [_root(root) for root in verdict.roots],
        "relations": [_relation(relation) for relation in verdict.relations],
        "divergence": _divergence(verdict.divergence, verdict.effect),
        "diagnosis": [_edit(edit) for edit in verdict.diagnosis],
        "numeric": [_numeric(numeric) for numeric in verdict.numeric],
        "sizes": {
            "varying": verdict.sizes.varying,
            "fixed": verdict.sizes.fixed,
            "ran": verdict.sizes.ran,
            "shapes": {name: list(shape) for name, shape in verdict.sizes.shapes.items()},
            "places": [[name, d, sizes.encoded(size)] for (name, d), size in verdict.sizes.places.items()],
            "region": verdict.sizes.region.form(),
            "bounds": verdict.sizes.bounds,
            "not_followed": verdict.sizes.lost,
            "apart": verdict.sizes.apart,
        },
        "captured": {side: setting_json(setting) for side, setting in sides(verdict)},
        "readings": [_reading(reading) for reading in verdict.readings],
        "unpaired": verdict.unpaired,
        "notes": verdict.notes,
        "counts": verdict.counts,
        "timing": verdict.timing,
        "versions": verdict.versions,
        "seed": verdict.seed,
    }
    if isinstance(verdict, Refinement):
        document |= _refinement(verdict)
    else:
        document["sizes"]["by_files"] = verdict.sizes.by_files
        document["sizes"]["cases"] = [
            {"region": case.region.form(), "bounds": case.bounds, "conditions": list(map(str, case.conditions))}
            for case in verdict.sizes.cases
        ]
        document |= {
            "weights": verdict.weights,
            "because": verdict.because,
            "only": verdict.only,
            "differences": [asdict(difference) for difference in verdict.differences],
            "ignored": [asdict(difference) for difference in verdict.ignored],
            "scope": verdict.scope,
        }
    if verdict.picture is not None:
        document["picture"] = _picture(verdict.picture)
    found = plain(document)
    assert isinstance(found, dict)
    return found


def dumps(verdict: Verdict) -> str:
    """The verdict as JSON text, indented, with a newline at its end."""
    return json.dumps(to_json(verdict), indent=2, allow_nan=False) + "\n"


def require_writable(path: Path) -> None:
    """Raise SamesameError if `path` cannot be written, before any work is done for it; leaves nothing behind."""
    if _is_stream(path):
        return
    if path.is_dir():
        raise SamesameError(f"cannot write {path}: it is a folder; give a file name, such as {path / 'verdict.json'}")
    probe = _beside(path)
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def write(verdict: Verdict, path: Path) -> None:
    """Write the verdict to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_text(dumps(verdict), path)


def write_certificate(verdict: Verdict, path: Path) -> None:
    """Write the verdict's certificate to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_text(json.dumps(verdict.certificate, separators=(",", ":")) + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write ASCII text to `path` in one step: a reader sees the old file or the whole new one."""
    try:
        if _is_stream(path):
            path.write_text(text, encoding="ascii")
            return
        whole = _beside(path)
        try:
            whole.write_text(text, encoding="ascii")
            os.replace(whole, path.resolve())
        finally:
            whole.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def _beside(path: Path) -> Path:
    """A temporary name in the folder of the file that `path` leads to, so that a rename stays on one disk."""
    real = path.resolve()
    return real.with_name(f".{real.name[:100]}.{os.getpid()}.tmp")


def _is_stream(path: Path) -> bool:
    """Pipes and devices are written to, never replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _unwritable(path: Path, error: OSError) -> SamesameError:
    folder = path.resolve().parent
    if not folder.is_dir():
        return SamesameError(f"cannot write {path}: there is no folder {folder}; create it or give another path")
    return SamesameError(f"cannot write {path}: {error.strerror or error}; free it or give another path")


# --------------------------------------------------------------------------------------------------- parts of a verdict


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "rung": str(evidence.rung),
        "method": evidence.method,
        "conditions": list(map(str, evidence.conditions)),
        "detail": evidence.detail,
        "seconds": evidence.seconds,
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {name: getattr(origin, name) for name in ("file", "line", "function", "code", "module", "parameter")}


def _site(site: Site | None) -> dict[str, Any] | None:
    if site is None:
        return None
    return {"side": site.side, "node": site.node, "operator": site.operator, "origin": _origin(site.origin)}


def _effect(effect: Effect | None) -> dict[str, Any] | None:
    names = ("max_error", "mean_error", "max_log_prob_change", "argmax_changed", "argmax_total")
    return None if effect is None else {name: getattr(effect, name) for name in names}


def _root(root: Root) -> dict[str, Any]:
    return {
        "name": root.name,
        "left": root.left,
        "right": root.right,
        "evidence": _evidence(root.evidence),
        "proof": root.evidence.proof,
        "max_error": root.max_error,
        "mean_error": root.mean_error,
    }


def _relation(relation: Relation) -> dict[str, Any]:
    return {
        "left": relation.left,
        "right": relation.right,
        "layout": relation.layout,
        "evidence": _evidence(relation.evidence),
        "proof": relation.evidence.proof,
        "left_origin": _origin(relation.left_origin),
        "right_origin": _origin(relation.right_origin),
    }


def _reading(reading: Reading) -> dict[str, Any]:
    names = ("side", "name", "formula", "dtype", "worst", "allowed", "most", "roundings")
    return {name: getattr(reading, name) for name in names}


def _refinement(verdict: Refinement) -> dict[str, Any]:
    """What `refine` says more than `check`: how outputs lie on the ranks, where these lose the sequential program."""
    loss = verdict.loss
    divergence = None if loss is None else {
        "operator": _site(loss.operator), "inputs": loss.inputs, "instead": loss.instead,
    }
    return {
        "world_size": verdict.world_size,
        "outputs": [
            {
                "name": output.name,
                "kind": output.kind,
                "words": output.words,
                "expected": output.expected,
                "holds": output.holds,
                "declare": output.declare,
                "evidence": _evidence(output.evidence),
            }
            for output in verdict.outputs
        ],
        "input_relation": [_relation(relation) for relation in verdict.input_relation],
        "collectives": [
            {"kind": found.kind, "group": found.group, "origin": _origin(found.origin)}
            for found in verdict.collectives
        ],
        "divergence": divergence,
        "stuck": verdict.stuck,
        "provided": verdict.provided,
        "tried": verdict.tried,
    }


def _divergence(divergence: Divergence | None, effect: Effect | None) -> dict[str, Any] | None:
    """Where the programs part and what that does to the outputs; None only where neither is known."""
    if divergence is None and effect is None:
        return None
    place = divergence or Divergence(None, None)
    return {
        "left": _site(place.left),
        "right": _site(place.right),
        "agreeing_inputs": place.agreeing_inputs,
        "effect": _effect(effect),
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "edit": edit.description,
        "site": _site(edit.site),
        "counterpart": _site(edit.counterpart),
        "effect": _effect(edit.effect),
        "verified": edit.verified,
    }


def _picture(picture: Picture) -> dict[str, Any]:
    """What was kept for a drawing: operators of both sides, the formulas that were compared, how rounding grows."""

    def formula(tensor: Tensor | None) -> str | None:
        return None if tensor is None else unicode_tensor("out", tensor)

    def operators(drawn: tuple[Drawn, ...], errors: Mapping[str, float]) -> list[dict[str, Any]]:
        names = ("name", "operator", "inputs", "type")
        return [{**{name: getattr(node, name) for name in names}, "origin": _origin(node.origin),
                 "error": errors.get(node.name)} for node in drawn]

    return {
        "left": operators(picture.left, picture.errors[0]),
        "right": operators(picture.right, picture.errors[1]),
        "claims": {
            key: {"left": formula(claim.left), "right": formula(claim.right), "block": claim.block,
                  "normal": list(claim.normal), "questions": len(claim.questions)}
            for key, claim in picture.claims.items()
        },
        "because": {right: [asdict(step) for step in steps] for right, steps in picture.because.items()},
        "decided": {
            right: {"claim": key, "variables": [asdict(stand) for stand in stands]}
            for right, (key, stands) in picture.decided.items()
        },
        "apart": {
            root: [{"below": None if power is None else 10.0**power, "elements": n} for power, n in counts.items()]
            for root, counts in picture.apart.items()
        },
    }


def _numeric(numeric: Numeric) -> dict[str, Any]:
    return {name: getattr(numeric, name) for name in ("root", "left_error", "right_error", "dtype", "draws")}


def plain(part: Any) -> Any:
    """The same data in types that JSON has; numbers may come as numpy scalars, and need not be finite."""
    if part is None or isinstance(part, (str, bool)):
        return part
    if isinstance(part, Integral):
        return int(part)
    if isinstance(part, Real):
        number = float(part)
        return number if math.isfinite(number) else "NaN" if math.isnan(number) else f"{'-' * (number < 0)}Infinity"
    if isinstance(part, dict):
        return {str(key): plain(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [plain(value) for value in part]
    raise TypeError(f"a verdict holds {type(part).__name__}, which JSON cannot")

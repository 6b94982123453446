"""Outline: what a certificate has to have, to say of one that does not hold which step or part lacks what.

Nothing hangs on it: `replay` believes no part of a certificate to be there. It says that something is malformed, and
these tables say to whoever wrote it what that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samesame.certificate.forms import Broken, require

WORDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number"}
WHOLE = {"left": dict, "right": dict, "terms": list, "steps": list, "proofs": dict, "roots": list, "constants": dict,
         "weights": dict, "sizes": dict, "region": dict, "conditions": list, "not_followed": list, "evidence": str,
         "seal": str}
REGION = {"bounds": dict, "conditions": list}
SIDE = {"graph": dict, "terms": dict, "tensors": dict, "identity": str, "loaded": str}
GRAPH = {"nodes": list, "roots": list}
PROOF = {"block": dict, "method": str, "rung": str, "conditions": list, "settled": bool, "queries": list}
BLOCK = {"nodes": list, "left": str, "right": str, "constants": dict}
INSTANCE = {"proof": str, "terms": dict}
MOVED = {"moved": bool, "terms": dict}


def lacking(form: dict[str, Any]) -> str:
    """The first part that is missing or is no such thing, in a sentence; nothing where all are there."""
    try:
        require_outline(form)
    except Broken as fault:
        return str(fault)
    return ""


def require_outline(form: dict[str, Any]) -> None:
    """Raises Broken where a part is missing, or is no such thing."""
    require_fields("the certificate", form, WHOLE)
    require_fields("its region", form["region"], REGION)
    for side in ("left", "right"):
        require_fields(f"its {side} side", form[side], SIDE)
        require_fields(f"its {side} graph", form[side]["graph"], GRAPH)
    for name, proof in form["proofs"].items():
        require_fields(f"proof {name}", proof, PROOF)
        require_fields(f"the block of proof {name}", proof["block"], BLOCK)
    for number, term in enumerate(form["terms"]):
        require_row(f"term {number}", term, "[operator, attributes, arguments, type]", (str, list, list, object))
    for number, step in enumerate(form["steps"], 1):
        require_row(f"step {number}", step, "[term, term, reason]", (int, int, dict))
        known = all(0 <= term < len(form["terms"]) for term in step[:2])
        require(known, f"the certificate is malformed: step {number} names a term that is not there")
        if "moved" in step[2]:
            require_fields(f"the reason of step {number}", step[2], MOVED)
        elif step[2] not in ({"congruence": True}, {"constant": True}):
            require_fields(f"the reason of step {number}", step[2], INSTANCE)
    for number, root in enumerate(form["roots"], 1):
        require_row(f"output {number}", root, "[name, term, term]", (str, int, int))


def require_fields(what: str, part: Any, fields: Mapping[str, type]) -> None:
    require(isinstance(part, dict), f"the certificate is malformed: {what} is no object")
    for name, kind in fields.items():
        require(name in part, f"the certificate is malformed: {what} lacks {name!r}")
        require(isinstance(part[name], kind), f"the certificate is malformed: {name!r} of {what} is not {WORDS[kind]}")


def require_row(what: str, part: Any, words: str, kinds: tuple[type, ...]) -> None:
    fits = isinstance(part, list) and len(part) == len(kinds) and all(map(isinstance, part, kinds))
    require(fits, f"the certificate is malformed: {what} is not {words}")

"""Stored numbers that a certificate reads as formulas: the certified graph is the one given, but for these.

A certificate of programs that are the same up to the rounding of stored numbers is about graphs in which formulas stand
in the place of stored tensors. Here the graph given is held against such a graph, node by node: each of its nodes is
there, reading what it read or the formula that stands for it; constants may be made in float64 instead of float32, and
a buffer may be a variable. Then each formula is worked out in float64, by torch, from the tensors given, and compared
with what is stored. How far rounding may carry a number is the first prover's word; that it lies so near is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from samesame.certificate import forms
from samesame.certificate.forms import require

_SLACK, _SLACK_IN_DOUBLE = 1e-3, 4.0    # units in the last place, between two ways to work out a formula in float64
_LARGEST_SHARE = 2**-7      # of a tensor's largest magnitude: half a unit of bfloat16, and more than any reading is off
HELD = ("parameter", "constant")
WIDENED = {"float32": "float64", "complex64": "complex128"}
Nodes = Mapping[str, dict[str, Any]]


def held_against(
    mine: dict[str, Any], given: dict[str, Any], read: dict[str, Any], sizes: Mapping[str, int], what: str
) -> None:
    """The certified graph `mine` is the graph given, but for what is read otherwise. Raises Broken where it is not."""
    there: Nodes = {node["name"]: node for node in mine["nodes"]}
    stands = {one["node"]: one["stands"] for one in read["stored"]}
    own_names = {node["name"] for node in given["nodes"]}
    casts = {name: node["args"][0]["node"] for name, node in there.items() if name not in own_names
             and (node["operator"], node["kwargs"]) == ("aten._to_copy.default", {"dtype": {"dtype": "float64"}})}
    for node in given["nodes"]:
        name = node["name"]
        if name in stands:
            require(stands[name] in there, f"{what}: nothing stands for {name}")
            continue
        require(name in there, f"{what} (at {name})")
        own = dict(there[name])
        if name in read["variables"]:
            own["operator"] = "constant" if node["operator"] == "constant" else own["operator"]
        found = {key: _plain(own[key], casts, {}) for key in own if key != "origin"}
        wanted = {key: _plain(node[key], casts, stands) for key in node if key != "origin"}
        require(forms.is_at(found, wanted, sizes), f"{what} (at {name})")
    roots = [[name, stands.get(root, root)] for name, root in given["roots"]]
    require(sorted(mine["roots"]) == sorted(roots), what)


def _plain(form: Any, casts: Mapping[str, Any], stands: Mapping[str, str]) -> Any:
    """An argument or a type with casts to float64 looked through, float32 as float64, and what stands for a tensor in
    its place."""
    if isinstance(form, dict):
        if "node" in form:
            name = stands.get(form["node"], form["node"])
            return {"node": casts.get(name, name)}
        return {key: _plain(value, casts, stands) for key, value in form.items()}
    if isinstance(form, list):
        return [_plain(part, casts, stands) for part in form]
    return WIDENED.get(form, form) if isinstance(form, str) else form


def require_roundings(
    mine: dict[str, Any], read: dict[str, Any], tensors: Mapping[str, torch.Tensor], known: Mapping[str, torch.Tensor],
    sizes: Mapping[str, int], given: dict[str, Any],
) -> None:
    """Every stored tensor lies as near to its formula as the certificate says. `known` are tensors by digest."""
    there: Nodes = {node["name"]: node for node in mine["graph"]["nodes"]}
    own: Nodes = {node["name"]: node for node in given["nodes"]}
    sources = {name: known[digest] for name, digest in mine["tensors"].items() if digest in known}
    meant = dict(tensors)                                # what is made of stored numbers is made of what they mean
    for one in sorted(read["stored"], key=lambda one: own[one["node"]]["operator"] not in HELD):
        name = one["node"]
        formula = _worked_out(one["stands"], there, sources, sizes)
        stored = tensors[name] if own[name]["operator"] in HELD else _worked_out(name, own, meant, sizes)
        meant[name] = formula
        require(formula.numel() == stored.numel() or formula.numel() == 1, f"{name} is no rounding of its formula")
        a, b = forms.widened(stored).reshape(-1), forms.widened(formula).reshape(-1).expand(stored.numel())
        off = ((a - b).abs() / units(b, getattr(torch, one["dtype"]))).max()
        slack = _SLACK if one["dtype"] != "float64" else _SLACK_IN_DOUBLE
        require(float(off) <= one["most"] + slack, f"{name} is off by {float(off):.2g} units from {one['words']}")
        near = bool(((a - b).abs() <= _LARGEST_SHARE * b.abs().max()).all())
        require(near, f"{name} is too far from {one['words']} for any rounding")


def units(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of neighbouring numbers of a dtype at each of these."""
    finest = torch.finfo(dtype)
    exponent = torch.frexp(value.abs()).exponent
    return torch.ldexp(torch.full_like(value, finest.eps), exponent - 1).clamp(min=finest.smallest_normal * finest.eps)


def _worked_out(
    name: str, nodes: Nodes, sources: Mapping[str, torch.Tensor], sizes: Mapping[str, int]
) -> torch.Tensor:
    """The value of a node in float64, from the tensors of its sources."""
    values: dict[str, Any] = {}
    stack = [name]
    while stack:
        node = nodes[stack[-1]]
        reads = [read for read in _reads([node["args"], list(node["kwargs"].values())]) if read not in values]
        if node["name"] in values:
            stack.pop()
        elif node["operator"] in HELD:
            require(node["name"] in sources, f"the tensor of {node['name']} is not among those given")
            values[node["name"]] = forms.widened(sources[node["name"]])
        elif reads:
            require(len(stack) < len(nodes) + 2, "a formula is made of itself")
            stack += reads
        else:
            require(node["operator"] != "input", f"{name} depends on an input")
            values[node["name"]] = forms.call_of(node, sizes, lambda dtype: forms.WIDE.get(dtype, dtype))(values)
    found = values[name]
    require(isinstance(found, torch.Tensor), f"{name} is no tensor")
    return torch.as_tensor(found)


def _reads(form: Any) -> list[str]:
    if isinstance(form, dict):
        return [form["node"]] if "node" in form else []
    return [read for part in form for read in _reads(part)] if isinstance(form, list) else []

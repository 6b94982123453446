"""Candidates by algebra: the program's formulas in cheaper forms, each as a module of torch's own operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from math import inf
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from samesame.capture.memory import has_memory
from samesame.capture.program import Program
from samesame.evidence import Refused
from samesame.graph import Graph
from samesame.optimize.built import variables
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import without_gaps
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.emit.variables import constant
from samesame.optimize.forms import Form, finite, fold, made, text, times, walk
from samesame.optimize.job import example_of
from samesame.optimize.names import IN_ANY_ORDER
from samesame.optimize.read import read
from samesame.optimize.search import Found, Rewriting, drawn
from samesame.optimize.specification import Specification
from samesame.report.optimized import Formula

READABLE = 200                                       # letters of a formula
MANY = 6                                             # formulas, which nobody reads either
GAIN = 0.95                                          # of the program's own cost: less than that hardly shows in torch


def specified(
    module: Any, example: Any, graph: Graph, until: float = inf, look_ups: bool = True, gradients: bool = False
) -> Specification:
    """What a captured program computes, as forms, look-ups at integers in data too if asked for. It runs with
    `gradients` where it computes some. Raises Refused where forms cannot say it, or where it reads a tensor that a
    module in torch's operators could not find: one that a function closes over, or has in a module; Unsupported where
    it is not read until then, on time.monotonic."""
    program = Program(module, example, gradients)
    specification = replace(as_laid(read(graph, until, look_ups), program, example), arguments=tuple(program.inputs))
    own = [tensor.path or name for name, tensor in specification.tensors.items()
           if tensor.role == "weight" and tensor.value is None]
    if not isinstance(module, nn.Module):
        if lost := [name for name in own if name not in variables(module)]:
            raise Refused(f"the tensor {lost[0]} belongs to no module; give a module that holds it as parameter or "
                          "buffer, or a function that refers to it as a variable of its file")
        specification = replace(specification, variables=tuple(own))
    return specification


def as_laid(specification: Specification, program: Program, example: Any) -> Specification:
    """The same with the strides that tensors have here, where these are not row-major: of the example and the weights
    as they are given, and of what a call returns; and with what leaves a mark when it is written to."""
    given = {**program.tensors, **dict(program.given)}
    tensors = {name: replace(tensor, strides=strides_of(given[name]), marked=leaves_a_mark(given[name]))
               if name in given else replace(tensor, marked=tensor.role == "weight")
               for name, tensor in specification.tensors.items()}
    args, kwargs = example_of(example)
    with torch.set_grad_enabled(program.gradients):
        returned = dict(program.roots(program.program(*args, **kwargs)))
    memory = {tensor.untyped_storage().data_ptr() for tensor in given.values() if has_memory(tensor)}
    outputs = tuple(replace(output, strides=strides_of(without_gaps(returned[output.name])),
                            copied=is_apart(returned[output.name], memory)) for output in specification.outputs)
    return replace(specification, tensors=tensors, outputs=outputs)


def is_apart(tensor: torch.Tensor, memory: Collection[int]) -> bool:
    """Whether a tensor is in none of the memory that was given."""
    return has_memory(tensor) and tensor.untyped_storage().data_ptr() not in memory


def leaves_a_mark(tensor: torch.Tensor) -> bool:
    """Whether torch counts who writes to it: batch norms write to buffers of real numbers, and no version says so."""
    return isinstance(tensor, nn.Parameter) or not tensor.is_floating_point()


def strides_of(tensor: torch.Tensor) -> tuple[int, ...] | None:
    return None if tensor.is_contiguous() else tensor.stride()


def multiplications(module: Any, example: Any, gradients: bool = False) -> float:
    """How many the program's own matmuls take."""
    program = Program(module, example, gradients)
    with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as counter:
        program.call()
    return float(counter.get_total_flops()) / 2


def algebraic(specification: Specification, found: Found, own: float = 0.0) -> Iterator[Candidate]:
    """What the rules made of the specification, the most promising first. The specification itself is among them if it
    takes fewer multiplications than the program's `own`: a matmul with a diagonal is read as what it is."""
    seen = set[str]()
    before = found.candidates[0].cost["time"]
    for number, forms in enumerate(found.candidates):
        fewer = forms.is_original and forms.cost["multiplications"] < GAIN * own
        if not fewer and (forms.is_original or forms.cost["time"] > GAIN * before):
            continue
        try:
            candidate = in_torch(specification, forms, f"form {number}")
        except Refused:
            continue
        if fewer:
            read_as = tuple(f"read as {text(form, brief=True)}" for form in forms.outputs)
            candidate = replace(candidate, changed=read_as)
        code = "\n".join(line.partition("    # ")[0] for line in candidate.source.splitlines())
        if code not in seen:
            seen.add(code)
            yield candidate


def in_torch(specification: Specification, forms: Rewriting, name: str) -> Candidate:
    """These forms in torch's operators. Raises Refused where a module cannot be written."""
    return Candidate(name, source(specification, forms.outputs), weights_of(specification),
                     changed(specification, forms), formulas(specification, forms), forms.steps, whole=True)


def weights_of(specification: Specification) -> tuple[str, ...]:
    """The weights that a module holds; small constants have none of its names."""
    return tuple(tensor.path for tensor in specification.tensors.values() if tensor.role == "weight" and tensor.path)


def weights_in_code(specification: Specification) -> str:
    """All of them in order, as a list that is made of `weights` by name."""
    each = (constant(tensor) if tensor.value is not None else f"weights[{tensor.path!r}]"
            for tensor in specification.tensors.values() if tensor.role == "weight")
    return f"[{', '.join(each)}]"


def formulas(specification: Specification, forms: Rewriting) -> tuple[Formula, ...]:
    """Each formula of the program, drawn, and what it is now."""
    found = list[Formula]()
    for root, new in zip(specification.roots(), forms.outputs, strict=True):
        axes = [axis for dim in root.dims for axis in dim]
        name = f"out{root.name}" if root.name.isdigit() else root.name
        before, after = (drawn(form, specification.extents, axes, specification.leaves(), name)
                         for form in (root.form, new))
        found.append(Formula(root.name, before, "" if numbers_first(root.form) is numbers_first(new) else after))
    return tuple(found)


def numbers_first(form: Form) -> Form:
    """The form with numbers in front of sums, and not within: where they stand is no other way to compute it."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        y = made(x.operator, x.attributes, tuple(memo[part] for part in x.arguments)) if x.arguments else x
        if y.operator == "fold" and y.attributes[0] == "sum" and y.arguments[0].operator == "times":
            parts = y.arguments[0].arguments
            numbers, rest = [p for p in parts if finite(p)], [p for p in parts if not finite(p)]
            y = times(*numbers, fold("sum", y.attributes[1], times(*rest)))
        memo[x] = y
    return memo[form]


def changed(specification: Specification, forms: Rewriting) -> tuple[str, ...]:
    """Each formula that is another one now, and not only one whose numbers stand elsewhere; of long ones what is
    another in them."""
    pairs = [(numbers_first(root.form), numbers_first(new))
             for root, new in zip(specification.roots(), forms.outputs, strict=True)]
    if any(len(text(form, brief=True)) > READABLE for pair in pairs for form in pair):
        pairs = [part for old, new in pairs for part in differences(old, new)]
    lines = [*dict.fromkeys(f"{brief(old)} → {brief(new)}" for old, new in pairs if old is not new)]
    if not lines:
        return ()
    rules = ", ".join(dict.fromkeys(step.rule for step in forms.steps))
    more = [f"and {len(lines) - MANY} more formulas"] if len(lines) > MANY else []
    return (*lines[:MANY], *more, *([f"by {rules}"] if rules else []))


def brief(form: Form) -> str:
    """The form in brief, cut where nobody reads on."""
    whole = text(form, brief=True)
    return whole if len(whole) <= READABLE else f"{whole[:READABLE]}…"


def differences(old: Form, new: Form) -> list[tuple[Form, Form]]:
    """The smallest parts in which two forms differ, outer ones first."""
    found, waiting, seen = dict[tuple[Form, Form], None](), [(old, new)], set[tuple[Form, Form]]()
    while waiting:
        one, other = pair = waiting.pop()
        if one is other or pair in seen:
            continue
        seen.add(pair)
        left, right = list(one.arguments), list(other.arguments)
        same = (one.operator, one.attributes) == (other.operator, other.attributes)
        if same and one.operator in IN_ANY_ORDER:    # each beside the one of its kind
            common = Counter(left) & Counter(right)
            left, right = ([*(Counter(each) - common).elements()] for each in (left, right))
            kinds, others = ({(x.operator, x.attributes): x for x in each} for each in (left, right))
            within = [(x, others[kind]) for kind, x in kinds.items() if kind in others]
        else:
            within = list(zip(left, right, strict=False))
        if same and within and len(within) == len(left) == len(right):
            waiting.extend(reversed(within))
        elif same and one.operator in ("plus", "times") and left and right:
            found[made(one.operator, (), tuple(left)), made(one.operator, (), tuple(right))] = None
        else:
            found[pair] = None
    return [*found]

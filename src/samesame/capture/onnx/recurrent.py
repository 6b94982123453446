"""Recurrent operators: RNN, GRU and LSTM, written out step by step.

Each is a step over a state, gone through once in each direction. What the input gives is multiplied for all steps at
once, as torch does it. Where lengths are given, a sequence that is over keeps its state and gives zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from samesame.capture.onnx.table import Application, Value, row, tensor

Tensor = torch.Tensor
Activation = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu, "softsign": F.softsign, "softplus": F.softplus,
}
USUAL = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
WAYS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
NOT_COVERED = ("activation_alpha", "activation_beta", "clip", "input_forget", "layout")


@dataclass(frozen=True)
class Cell:
    """One direction: what the input gives to each step's gates, how the state is weighed, and activations."""

    given: Tensor
    weight: Tensor
    bias: Tensor | None
    functions: Sequence[Activation]
    peepholes: Tensor | None
    after_reset: bool

    def gates(self, step: int, hidden: Tensor, count: int) -> tuple[Tensor, ...]:
        return (self.given[step] + F.linear(hidden, self.weight, self.bias)).chunk(count, -1)


State = tuple[Tensor, ...]
Step = Callable[[Cell, int, State], State]


def simple(cell: Cell, step: int, state: State) -> State:
    return (cell.functions[0](cell.gates(step, state[0], 1)[0]),)


def gated(cell: Cell, step: int, state: State) -> State:
    """Gates z and r, and what is new: the reset comes before the weights of the state, or after them."""
    (hidden,), (f, g) = state, cell.functions
    size = hidden.shape[-1]
    if cell.after_reset:
        mine = F.linear(hidden, cell.weight, cell.bias)
        z, r = f(cell.given[step][:, : 2 * size] + mine[:, : 2 * size]).chunk(2, -1)
        new = g(cell.given[step][:, 2 * size :] + r * mine[:, 2 * size :])
    else:
        first, last = (None, None) if cell.bias is None else (cell.bias[: 2 * size], cell.bias[2 * size :])
        mine = F.linear(hidden, cell.weight[: 2 * size], first)
        z, r = f(cell.given[step][:, : 2 * size] + mine).chunk(2, -1)
        new = g(cell.given[step][:, 2 * size :] + F.linear(r * hidden, cell.weight[2 * size :], last))
    return ((1 - z) * new + z * hidden,)


def long_short(cell: Cell, step: int, state: State) -> State:
    """Gates i, o, f and what is new, which peepholes let see the cell."""
    hidden, held = state
    f, g, h = cell.functions
    gate_in, gate_out, gate_kept, new = cell.gates(step, hidden, 4)
    if cell.peepholes is not None:
        to_in, to_out, to_kept = cell.peepholes.chunk(3, -1)
        gate_in, gate_kept = gate_in + to_in * held, gate_kept + to_kept * held
    held = f(gate_kept) * held + f(gate_in) * g(new)
    if cell.peepholes is not None:
        gate_out = gate_out + to_out * held
    return f(gate_out) * h(held), held


STEPS: dict[str, tuple[Step, int]] = {"RNN": (simple, 1), "GRU": (gated, 1), "LSTM": (long_short, 2)}


@row("RNN", "GRU", "LSTM")
def recurrent(
    node: Application, x: Value, weights: Value, of_state: Value, biases: Value | None = None,
    lengths: Value | None = None, hidden: Value | None = None, held: Value | None = None,
    peepholes: Value | None = None,
) -> Any:
    way, usual = WAYS[node.get("direction", "forward")], USUAL[node.operator]
    names = [name.lower() for name in node.get("activations", usual * len(way))]
    if any(node.get(name) for name in NOT_COVERED) or not set(names) <= set(ACTIVATIONS):
        return NotImplemented
    rows, ended = tensor(x), None if lengths is None else tensor(lengths)
    step, count = STEPS[node.operator]
    found = []
    for d, backwards in enumerate(way):
        both = (None, None) if biases is None else tensor(biases)[d].chunk(2)
        functions = [ACTIVATIONS[name] for name in names[d * len(usual) : (d + 1) * len(usual)]]
        cell = Cell(F.linear(rows, tensor(weights)[d], both[0]), tensor(of_state)[d], both[1], functions,
                    None if peepholes is None else tensor(peepholes)[d], bool(node.get("linear_before_reset", 0)))
        start = [torch.zeros(rows.shape[1], cell.weight.shape[1], dtype=rows.dtype) if given is None
                 else tensor(given)[d] for given in (hidden, held)[:count]]
        found.append(gone_through(step, cell, tuple(start), ended, backwards))
    outputs, states = zip(*found, strict=True)
    made = [torch.stack(outputs, 1), *(torch.stack(column) for column in zip(*states, strict=True))]
    return tuple(made[: len(node.outputs)])


def gone_through(step: Step, cell: Cell, state: State, ended: Tensor | None, backwards: bool) -> tuple[Tensor, State]:
    """What each step gives, in the order of the input, and the state at the end."""
    given: list[Tensor] = []
    places = range(cell.given.shape[0])
    for place in reversed(places) if backwards else places:
        after = step(cell, place, state)
        if ended is None:
            state, out = after, after[0]
        else:
            under_way = (place < ended).unsqueeze(-1)
            state = tuple(torch.where(under_way, new, old) for new, old in zip(after, state, strict=True))
            out = torch.where(under_way, after[0], 0.0)
        given.append(out)
    return torch.stack(given[::-1] if backwards else given), state

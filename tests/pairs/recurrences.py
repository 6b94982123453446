"""The linear recurrence h[t] = a[t] h[t−1] + x[t], unrolled four steps, and its closed forms.

Decay rates `a` and inputs `x` are [4, channels], the first state `h` is [channels].
"""

import torch

from pairs.pair import Pair, inputs, positive, twins, vary

STEPS = 4


def scan(a, x, h):
    states = []
    for step in range(STEPS):
        h = a[step] * h + x[step]
        states.append(h)
    return torch.stack(states)


def closed_form(a, x, h, first=1):
    """h[t] = Σ_{s ≤ t} (Π_{s < r ≤ t} a[r]) x[s] + (Π_{r ≤ t} a[r]) h, one term after the other."""
    states = []
    for step in range(STEPS):
        terms = [a[earlier + first : step + 1].prod(0) * x[earlier] for earlier in range(step + 1)]
        states.append(sum(terms) + a[: step + 1].prod(0) * h)
    return torch.stack(states)


def closed_form_without_state(a, x, h):
    states = []
    for step in range(STEPS):
        states.append(sum(a[earlier + 1 : step + 1].prod(0) * x[earlier] for earlier in range(step + 1)))
    return torch.stack(states)


def by_products(a, x, h):
    """h[t] = p[t] (h + Σ_{s ≤ t} x[s] / p[s]) with the cumulative products p."""
    products = a.cumprod(0)
    return products * (h + (x / products).cumsum(0))


def by_products_without_division(a, x, h):
    products = a.cumprod(0)
    return products * (h + (x * products).cumsum(0))


def by_matrix(a, x, h, diagonal=0):
    """Decay from step s to step t as a triangular matrix of ratios, as chunked scans do."""
    products = a.cumprod(0)
    ratios = products[:, None] / products[None, :]
    kept = torch.ones(STEPS, STEPS, dtype=torch.bool).tril(diagonal)
    decay = torch.where(kept[..., None], ratios, 0.0)
    return torch.einsum("tsc,sc->tc", decay, x) + products * h


def by_logarithms(a, x, h, sign=1.0):
    """Ratios of products as exponentials of sums of logarithms."""
    logarithms = sign * a.log().cumsum(0)
    kept = torch.ones(STEPS, STEPS, dtype=torch.bool).tril()
    decay = torch.where(kept[..., None], (logarithms[:, None] - logarithms[None, :]).exp(), 0.0)
    return torch.einsum("tsc,sc->tc", decay, x) + logarithms.exp() * h


def last_state(a, x, h):
    return scan(a, x, h)[-1]


def two_halves(a, x, h):
    """Each half as one step (product, state from zero), then combined: the associative form."""
    first_product, first = a[0] * a[1], a[1] * x[0] + x[1]
    second_product, second = a[2] * a[3], a[3] * x[2] + x[3]
    return (first_product * second_product) * h + (second_product * first + second)


def two_halves_combined_backwards(a, x, h):
    first_product, first = a[0] * a[1], a[1] * x[0] + x[1]
    second_product, second = a[2] * a[3], a[3] * x[2] + x[3]
    return (first_product * second_product) * h + (first_product * second + first)


def two_halves_undecayed(a, x, h):
    first_product, first = a[0] * a[1], a[1] * x[0] + x[1]
    second_product, second = a[2] * a[3], a[3] * x[2] + x[3]
    return (first_product * second_product) * h + (first + second)


def attention_scan(q, k, v):
    """Linear attention: the state is a matrix, updated by k ⊗ v and read by q."""
    state = torch.zeros(k.shape[-1], v.shape[-1], dtype=q.dtype)
    outs = []
    for step in range(STEPS):
        state = state + k[step, :, None] * v[step, None, :]
        outs.append(q[step] @ state)
    return torch.stack(outs)


def attention_by_triangle(q, k, v, diagonal=0):
    return (q @ k.T).tril(diagonal) @ v


RECURRENCE = inputs(positive(4, 7), (4, 7), (7,))

PAIRS = [
    Pair("recurrence and its sum of products", 24, scan, closed_form, RECURRENCE,
         twins(decay_off_by_one=vary(closed_form, first=0), first_state_dropped=closed_form_without_state)),
    Pair("recurrence by cumulative products", 24, scan, by_products, RECURRENCE,
         twins(multiplied_instead_of_divided=by_products_without_division)),
    Pair("recurrence by a triangular matrix", 24, scan, by_matrix, RECURRENCE,
         twins(diagonal_off_by_one=vary(by_matrix, diagonal=-1))),
    Pair("recurrence by logarithms", 24, scan, by_logarithms, RECURRENCE,
         twins(wrong_sign=vary(by_logarithms, sign=-1.0))),
    Pair("recurrence in two halves", 24, last_state, two_halves, RECURRENCE,
         twins(combined_backwards=two_halves_combined_backwards, first_half_not_decayed=two_halves_undecayed)),
    Pair("linear attention, step by step and at once", 24, attention_scan, attention_by_triangle,
         inputs((4, 5), (4, 5), (4, 7)), twins(own_step_left_out=vary(attention_by_triangle, diagonal=-1))),
]

"""Additive (Bahdanau) attention of a decoder state over padded encoder states: softmax(v · tanh(q + k)) and the context vector."""
import torch
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def additive_attention_fwd(query, keys, values, v, lengths, context, weights,
                           Tq, Tk, D, E,
                           BK: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr):
    t = tl.program_id(0)
    b = tl.program_id(1)
    kk = tl.arange(0, BK)
    dd = tl.arange(0, BD)
    ee = tl.arange(0, BE)
    length = tl.load(lengths + b)

    q = tl.load(query + (b * Tq + t) * D + dd, mask=dd < D, other=0.)
    w = tl.load(v + dd, mask=dd < D, other=0.)
    key = tl.load(keys + (b * Tk + kk[:, None]) * D + dd[None, :], mask=(kk[:, None] < Tk) & (dd[None, :] < D), other=0.)
    energy = tl.sum(w[None, :] * tanh(q[None, :] + key), axis=1)
    energy = tl.where((kk < length) & (kk < Tk), energy, -float("inf"))
    energy -= tl.max(energy, axis=0)
    p = tl.exp(energy)
    p /= tl.sum(p, axis=0)
    tl.store(weights + (b * Tq + t) * Tk + kk, p, mask=kk < Tk)

    val = tl.load(values + (b * Tk + kk[:, None]) * E + ee[None, :], mask=(kk[:, None] < Tk) & (ee[None, :] < E), other=0.)
    tl.store(context + (b * Tq + t) * E + ee, tl.sum(p[:, None] * val, axis=0), mask=ee < E)


def launch(B=3, Tq=4, Tk=11, D=20, E=24):
    query = torch.randn(B, Tq, D, device='cuda')
    keys = torch.randn(B, Tk, D, device='cuda')
    values = torch.randn(B, Tk, E, device='cuda')
    v = torch.randn(D, device='cuda')
    lengths = torch.randint(1, Tk + 1, (B,), device='cuda')
    context = query.new_empty(B, Tq, E)
    weights = query.new_empty(B, Tq, Tk)
    additive_attention_fwd[(Tq, B)](
        query, keys, values, v, lengths, context, weights, Tq, Tk, D, E,
        BK=triton.next_power_of_2(Tk), BD=triton.next_power_of_2(D), BE=triton.next_power_of_2(E),
    )
    return context, weights


def reference(query, keys, values, v, lengths):
    hidden = torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1))
    energy = hidden @ v
    pad = torch.arange(keys.shape[1], device=keys.device)[None, :] >= lengths[:, None]
    weights = energy.masked_fill(pad[:, None, :], float("-inf")).softmax(-1)
    return torch.bmm(weights, values), weights

TRUTH = "verified"

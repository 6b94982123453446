"""The same loss, one utterance after the other, as a numpy implementation was carried over."""
import math

import torch


def guided_attention(queries, keys, text_lengths, mel_lengths, g=0.4):
    frames, symbols = queries.shape[1], keys.shape[1]
    n = torch.arange(symbols)
    t = torch.arange(frames)
    penalty, elements = 0.0, 0
    for q, k, N, T in zip(queries, keys, text_lengths, mel_lengths):
        energy = torch.einsum("td,nd->tn", q, k) * (1 / math.sqrt(k.shape[-1]))
        energy = torch.where(n < N, energy, -math.inf)
        weight = (energy - energy.logsumexp(dim=-1, keepdim=True)).exp()
        distance = n[None, :] / N - t[:, None] / T
        w = -torch.expm1(-0.5 * (distance / g).square())
        inside = torch.outer(t < T, n < N)
        penalty = penalty + torch.where(inside, w * weight, 0.0).sum()
        elements = elements + N * T
    return penalty / elements

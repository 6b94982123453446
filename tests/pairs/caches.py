"""Decoding with caches of keys and values: the whole sequence at once, and in pieces that see what came before.

Two layers of causal attention over x [batch, 5, 6], two heads of three; `w` [2, 4, 6, 6] are the projections of
queries, keys, values and outputs of each layer.
"""

import torch

from pairs.pair import Pair, inputs, twins, vary

HEADS = 2


def heads(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def layer(x, w, past, late=0):
    """Attention of what is new over the past and what is new; the keys and values so far."""
    k, v = (torch.cat((old, heads(x @ part)), 2) for old, part in zip(past, w[1:3], strict=True))
    rows, columns = x.shape[1], k.shape[2]
    seen = torch.arange(columns)[None] <= torch.arange(columns - rows, columns)[:, None] + late
    scores = (heads(x @ w[0]) @ k.mT).masked_fill(~seen, -torch.inf)
    return x + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w[3], (k, v)


def nothing(x):
    none = x.new_zeros(x.shape[0], HEADS, 0, x.shape[2] // HEADS)
    return none, none


def whole(x, w):
    for own in w:
        x, _ = layer(x, own, nothing(x))
    return x


def in_chunks(x, w, size=2, late=0, forget=0):
    """Chunk by chunk, each through all layers; `forget` drops so many of the oldest keys."""
    past, done = [nothing(x)] * len(w), []
    for chunk in x.split(size, 1):
        for number, own in enumerate(w):
            past[number] = tuple(kept[:, :, forget:] for kept in past[number])
            chunk, past[number] = layer(chunk, own, past[number], late)
        done.append(chunk)
    return torch.cat(done, 1)


def last_of_whole(x, w):
    return whole(x, w)[:, -1:]


def one_step(x, w, swapped=False):
    """What came before fills the caches, then one token."""
    before, new = x[:, :-1], x[:, -1:]
    for own in w:
        after, (k, v) = layer(before, own, nothing(x))
        new, _ = layer(new, own, (v, k) if swapped else (k, v))
        before = after
    return new


def one_step_with_stale_caches(x, w):
    """The second layer's cache is filled from what goes into the first."""
    before, new = x[:, :-1], x[:, -1:]
    for own in w:
        _, past = layer(before, own, nothing(x))
        new, _ = layer(new, own, past)
    return new


TWO_LAYERS = inputs((2, 5, 6), (2, 4, 6, 6), scale=0.7)

PAIRS = [
    Pair("a whole prompt, and in chunks with caches", 25, whole, in_chunks, TWO_LAYERS,
         twins(mask_late_by_one=vary(in_chunks, late=1), oldest_key_forgotten=vary(in_chunks, forget=1))),
    Pair("the last token, and one step with caches", 25, last_of_whole, one_step, TWO_LAYERS,
         twins(keys_and_values_swapped=vary(one_step, swapped=True), stale_caches=one_step_with_stale_caches)),
]

"""Tokens that a grammar bans, a bit for each in words of 32, as guided decoding keeps them; and rows that are written
back where they were read, some of their elements changed."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def ban_kernel(logits, words, rows, vocab, row, of_words, FROM_THE_END: tl.constexpr, BLOCK: tl.constexpr):
    """Each request has words, and a row of the logits. `FROM_THE_END` a word begins with its highest bit."""
    request, block = tl.program_id(0), tl.program_id(1)
    at, word = block * BLOCK + tl.arange(0, BLOCK), block * (BLOCK // 32) + tl.arange(0, BLOCK // 32)
    of_each = tl.load(words + request * of_words + word, mask=word < tl.cdiv(vocab, 32), other=0)
    bit = tl.arange(0, 32)
    if FROM_THE_END:
        bit = 31 - bit
    banned = (((of_each[:, None] >> bit[None, :]) & 1) == 0).reshape(BLOCK)
    tl.store(logits + tl.load(rows + request) * row + at, -float("inf"), mask=(at < vocab) & banned)


def ban(logits, words, rows, from_the_end=False):
    requests, vocab = rows.shape[0], logits.shape[1]
    ban_kernel[(requests, triton.cdiv(vocab, 256))](
        logits, words, rows, vocab, logits.stride(0), words.stride(0), FROM_THE_END=from_the_end, BLOCK=256
    )
    return logits


def launch_banned(batch=6, requests=4, vocab=1000):
    logits = torch.randn(batch, vocab, device="cuda")
    words = torch.randint(-(2**31), 2**31 - 1, (requests, (vocab + 31) // 32), dtype=torch.int32, device="cuda")
    rows = torch.randperm(batch, device="cuda")[:requests]
    return ban(logits, words, rows)


def launch_banned_from_the_end(batch=6, requests=4, vocab=1000):
    logits = torch.randn(batch, vocab, device="cuda")
    words = torch.randint(-(2**31), 2**31 - 1, (requests, (vocab + 31) // 32), dtype=torch.int32, device="cuda")
    rows = torch.randperm(batch, device="cuda")[:requests]
    return ban(logits, words, rows, from_the_end=True)


def bits(words, vocab):
    return ((words[:, :, None] >> torch.arange(32, device=words.device)) & 1).flatten(1)[:, :vocab]


def banned(logits, words, rows):
    changed = logits[rows].masked_fill(bits(words, logits.shape[1]) == 0, float("-inf"))
    return logits.index_copy(0, rows, changed)


def banned_where_a_bit_is_set(logits, words, rows):
    changed = logits[rows].masked_fill(bits(words, logits.shape[1]) != 0, float("-inf"))
    return logits.index_copy(0, rows, changed)


def banned_in_the_first_rows(logits, words, rows):
    changed = logits[: rows.shape[0]].masked_fill(bits(words, logits.shape[1]) == 0, float("-inf"))
    return logits.index_copy(0, rows, changed)


def banned_by_the_next_bit(logits, words, rows):
    shifts = (torch.arange(32, device=words.device) + 1) % 32
    changed = logits[rows].masked_fill(
        ((words[:, :, None] >> shifts) & 1).flatten(1)[:, : logits.shape[1]] == 0, float("-inf")
    )
    return logits.index_copy(0, rows, changed)

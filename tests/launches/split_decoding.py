"""Decoding of one token per sequence, in two launches: the first one leaves the maximum, the sum and the accumulator of
each split of a sequence's keys, and where a split has none −∞ and zeros; the second one merges the splits."""
import torch
import triton
import triton.language as tl


@triton.jit
def split(q, keys, values, lengths, acc_out, m_out, l_out, L, D: tl.constexpr, SPLITS: tl.constexpr,
          BLOCK: tl.constexpr, KIND: tl.constexpr):
    b, s = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, D)
    n = tl.load(lengths + b)
    per = tl.cdiv(n, SPLITS)
    lo = s * per
    hi = tl.minimum(lo + per, n)
    if KIND == "end":
        hi = tl.minimum(lo + per + 1, n)
    query = tl.load(q + b * D + d)
    m = float("-inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for start in range(lo, hi, BLOCK):
        t = start + tl.arange(0, BLOCK)
        seen = t < hi
        at = (b * L + t)[:, None] * D + d[None, :]
        key = tl.load(keys + at, mask=seen[:, None], other=0.0)
        value = tl.load(values + at, mask=seen[:, None], other=0.0)
        z = tl.where(seen, tl.sum(query[None, :] * key, 1), float("-inf"))
        new = tl.maximum(m, tl.max(z, 0))
        p = tl.exp(z - new)
        alpha = tl.exp(m - new)
        total = total * alpha + tl.sum(p, 0)
        acc = acc * alpha + tl.sum(p[:, None] * value, 0)
        m = new
    part = b * SPLITS + s
    if KIND == "lse":
        some = lo < hi
        tl.store(acc_out + part * D + d, acc / tl.where(some, total, 1.0))
        tl.store(m_out + part, tl.where(some, m + tl.log(tl.where(some, total, 1.0)), float("-inf")))
    elif KIND == "nan":
        tl.store(acc_out + part * D + d, acc / total)
        tl.store(m_out + part, m + tl.log(total))
    else:
        tl.store(acc_out + part * D + d, acc)
        tl.store(m_out + part, m)
        tl.store(l_out + part, total)


@triton.jit
def merge(acc_in, m_in, l_in, lengths, o, D: tl.constexpr, SPLITS: tl.constexpr, KIND: tl.constexpr):
    b = tl.program_id(0)
    s, d = tl.arange(0, SPLITS), tl.arange(0, D)
    m = tl.load(m_in + b * SPLITS + s)
    if KIND == "known":
        n = tl.load(lengths + b)
        m = tl.load(m_in + b * SPLITS + s, mask=s * tl.cdiv(n, SPLITS) < n, other=float("-inf"))
    acc = tl.load(acc_in + (b * SPLITS + s)[:, None] * D + d[None, :])
    top = tl.max(m, 0)
    w = tl.exp(m - top)
    if KIND == "guarded":
        w = tl.where(m == float("-inf"), 0.0, tl.exp(m - top))
    if KIND == "unscaled":
        w = tl.where(m == float("-inf"), 0.0, 1.0)
    if KIND == "lse":
        tl.store(o + b * D + d, tl.sum(acc * w[:, None], 0) / tl.sum(w, 0))
    else:
        total = tl.load(l_in + b * SPLITS + s)
        tl.store(o + b * D + d, tl.sum(acc * w[:, None], 0) / tl.sum(total * w, 0))


@triton.jit
def merge_one_by_one(acc_in, m_in, l_in, o, D: tl.constexpr, SPLITS: tl.constexpr, KIND: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, D)
    m = float("-inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for k in range(SPLITS):
        part = b * SPLITS + k
        if KIND != "loop":
            part = b * SPLITS + SPLITS - 1 - k
        one = tl.load(m_in + part)
        new = tl.maximum(m, one)
        safe = new
        if KIND == "backwards":
            safe = tl.where(new == float("-inf"), 0.0, new)
        alpha = tl.exp(m - safe)
        beta = tl.exp(one - safe)
        total = total * alpha + tl.load(l_in + part) * beta
        acc = acc * alpha + tl.load(acc_in + part * D + d) * beta
        m = new
    tl.store(o + b * D + d, acc / total)


def decoded(q, keys, values, lengths, first, second):
    B, splits = q.shape[0], 4
    acc, m, total = torch.empty(B, splits, 2), torch.empty(B, splits), torch.empty(B, splits)
    o = torch.empty(B, 2)
    split[(B, splits)](q, keys, values, lengths, acc, m, total, keys.shape[1], D=2, SPLITS=splits, BLOCK=8, KIND=first)
    if second in ("loop", "backwards", "unguarded"):
        merge_one_by_one[(B,)](acc, m, total, o, D=2, SPLITS=splits, KIND=second)
    else:
        merge[(B,)](acc, m, total, lengths, o, D=2, SPLITS=splits, KIND=second)
    return o


def launch_plain(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "plain")


def launch_guarded(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "guarded")


def launch_lse(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "lse", "lse")


def launch_loop(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "loop")


def launch_unscaled(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "unscaled")


def launch_end(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "end", "plain")


def launch_nan(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "nan", "lse")


def launch_backwards(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "backwards")


def launch_unguarded(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "unguarded")


def launch_known(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "known")


def launch_nothing(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.zeros(B, dtype=torch.int32)
    return decoded(q, keys, values, lengths, "plain", "plain")


def launch_changed(B=3, L=37):
    q, keys, values = torch.randn(B, 2), torch.randn(B, L, 2), torch.randn(B, L, 2)
    lengths = torch.randint(1, L + 1, (B,), dtype=torch.int32)
    acc, m, total, o = torch.empty(B, 4, 2), torch.empty(B, 4), torch.empty(B, 4), torch.empty(B, 2)
    split[(B, 4)](q, keys, values, lengths, acc, m, total, L, D=2, SPLITS=4, BLOCK=8, KIND="plain")
    lengths.fill_(1)
    merge[(B,)](acc, m, total, lengths, o, D=2, SPLITS=4, KIND="known")
    return o


def reference(q, keys, values, lengths):
    hidden = torch.arange(keys.shape[1], device=q.device)[None, :] >= lengths[:, None]
    scores = torch.einsum("bd,bld->bl", q, keys)
    return torch.einsum("bl,bld->bd", scores.masked_fill(hidden, float("-inf")).softmax(-1), values)

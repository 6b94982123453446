"""Programs that decide on sizes."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from promises.corpus.case import Case

CASES = []
GRID = {}          # for validation only: how inputs of sizes are made, and which sizes to try


def seq(b, t):
    return (torch.randn(b, t, 8),)


def wide(b, t):
    return (torch.randn(b, t),)


def add(name, truth, why, left, right, make=seq, at=(2, 6), elsewhere=None, near=None, condition=""):
    CASES.append(Case(name, truth, why, left, right, lambda: make(*at),
                      elsewhere=(lambda: make(*elsewhere)) if elsewhere else None, condition=condition))
    GRID[name] = (make, at, near)


def plain(f):
    return lambda: f


def seeded(cls, *args):
    def build():
        torch.manual_seed(11)
        return cls(*args)
    return build


def softattn(q, k, v, mask):
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v


def causal(t):
    return torch.ones(t, t, dtype=torch.bool).tril()


# ---------------------------------------------------------------- attention: windows, chunks, masks

class Attn(nn.Module):
    def __init__(self, kind, size=16):
        super().__init__()
        self.qkv, self.o = nn.Linear(8, 24), nn.Linear(8, 8)
        self.kind, self.size = kind, size

    def mask(self, t):
        pos = torch.arange(t)
        back = pos[:, None] - pos[None, :]
        if self.kind == "window":
            return (back >= 0) & (back < self.size)
        if self.kind == "triu":
            return causal(t) & torch.ones(t, t, dtype=torch.bool).triu(-(self.size - 1))
        if self.kind == "chunk":
            return (back >= 0) & (pos[:, None] // self.size == pos[None, :] // self.size)
        return back >= 0

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.o(softattn(q, k, v, self.mask(x.shape[1])))


add("sliding_window_16_forgotten", "parts", "left looks back 16, right without limit: the same up to T = 16",
    seeded(Attn, "window"), seeded(Attn, "full"), elsewhere=(2, 20))
add("sliding_window_two_spellings", "same", "the band as distance and as triu(-15)",
    seeded(Attn, "window"), seeded(Attn, "triu"))
add("sliding_window_off_by_one", "parts", "16 against 17 positions back",
    seeded(Attn, "window", 16), seeded(Attn, "triu", 17), elsewhere=(2, 18))
add("chunked_local_attention", "parts", "attends inside chunks of 24 only (Llama 4's local layers)",
    seeded(Attn, "chunk", 24), seeded(Attn, "full"), elsewhere=(2, 30))


class FastWhenAligned(Attn):
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if x.shape[1] % 32 == 0:                # "the fast kernel"
            return self.o((q @ k.transpose(1, 2) / math.sqrt(8)).softmax(-1) @ v)
        return self.o(softattn(q, k, v, causal(x.shape[1])))


add("fast_path_at_multiples_of_32_not_causal", "parts", "T % 32 == 0 goes to a kernel without the causal mask",
    seeded(Attn, "full"), seeded(FastWhenAligned, "full"), elsewhere=(2, 32))


class Online(Attn):
    """Blocks of keys of 4 with a running maximum."""

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        b, t, d = q.shape
        q = q / math.sqrt(d)
        m = torch.full((b, t, 1), -1e30, dtype=x.dtype)
        l = torch.zeros(b, t, 1, dtype=x.dtype)
        acc = torch.zeros(b, t, d, dtype=x.dtype)
        rows = torch.arange(t)[:, None]
        for j in range(0, t, 4):
            kj, vj = k[:, j:j + 4], v[:, j:j + 4]
            keep = rows >= torch.arange(j, j + kj.shape[1])[None]
            s = torch.where(keep, q @ kj.transpose(1, 2), torch.tensor(-1e30, dtype=x.dtype))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.where(keep, (s - new).exp(), torch.zeros((), dtype=x.dtype))
            a = (m - new).exp()
            l, acc, m = l * a + p.sum(-1, keepdim=True), acc * a + p @ vj, new
        return self.o(acc / l)


add("online_softmax_blocks_of_4", "same", "flash attention by blocks with a ragged last one",
    seeded(Attn, "full"), seeded(Online, "full"))


class UnfoldWindow(Attn):
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        w = self.size
        kk = F.pad(k, (0, 0, w - 1, 0)).unfold(1, w, 1)        # B T D W
        vv = F.pad(v, (0, 0, w - 1, 0)).unfold(1, w, 1)
        s = torch.einsum("btd,btdw->btw", q, kk) / math.sqrt(8)
        real = torch.arange(x.shape[1])[:, None] + torch.arange(w)[None] >= w - 1
        p = s.masked_fill(~real, float("-inf")).softmax(-1)
        return self.o(torch.einsum("btw,btdw->btd", p, vv))


add("sliding_window_by_unfold", "same", "window of 4 by a banded mask, and by unfolding padded keys",
    seeded(Attn, "window", 4), seeded(UnfoldWindow, "window", 4), at=(2, 7))


class QueryChunks(Attn):
    """Queries by 8 where there are many, all keys each."""

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        mask = causal(x.shape[1])
        if x.shape[1] <= 8:
            return self.o(softattn(q, k, v, mask))
        rows = [softattn(q[:, i:i + 8], k, v, mask[i:i + 8]) for i in range(0, x.shape[1], 8)]
        return self.o(torch.cat(rows, 1))


add("query_chunks_of_8", "same", "memory-efficient attention: chunks of queries, all keys",
    seeded(Attn, "full"), seeded(QueryChunks, "full"))


class QueryChunksLocal(Attn):
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if x.shape[1] <= 12:
            return self.o(softattn(q, k, v, causal(x.shape[1])))
        out = [softattn(a, b, c, causal(a.shape[1])) for a, b, c in zip(q.split(12, 1), k.split(12, 1), v.split(12, 1))]
        return self.o(torch.cat(out, 1))


add("query_chunks_lose_their_past", "parts", "beyond 12, keys are cut with the queries",
    seeded(Attn, "full"), seeded(QueryChunksLocal, "full"), elsewhere=(2, 14))


class LogN(Attn):
    def __init__(self, kind, how):
        super().__init__(kind)
        self.how = how

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        t = x.shape[1]
        if self.how == "max":
            q = q * max(1.0, math.log(t) / math.log(16))
        elif self.how == "if":
            q = q * (1.0 if t <= 16 else math.log(t, 16))
        elif self.how == "position":          # Qwen: by the position of the query, not by the length
            q = q * (torch.arange(1, t + 1, dtype=x.dtype).log() / math.log(16)).clamp(min=1)[:, None]
        return self.o(softattn(q, k, v, causal(t)))


add("logn_scaling_left_out", "parts", "log-n scaling starts at 17 tokens",
    seeded(LogN, "full", "max"), seeded(LogN, "full", "none"), elsewhere=(2, 24))
add("logn_scaling_two_spellings", "same", "max(1, log T / log 16) against an if",
    seeded(LogN, "full", "max"), seeded(LogN, "full", "if"))
add("logn_by_length_or_position", "parts", "both are one up to 16; beyond, one goes by the length and one by each position",
    seeded(LogN, "full", "max"), seeded(LogN, "full", "position"), elsewhere=(2, 24))


class LinearOrder(nn.Module):
    def __init__(self, smart):
        super().__init__()
        self.qkv, self.smart = nn.Linear(8, 24), smart

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if self.smart and x.shape[1] > 8:
            return q @ (k.transpose(1, 2) @ v) / x.shape[1]
        return (q @ k.transpose(1, 2)) @ v / x.shape[1]


add("linear_attention_cheaper_order", "same", "associativity, by which is cheaper", seeded(LinearOrder, False), seeded(LinearOrder, True))


# ---------------------------------------------------------------- positions and tables

class Pos(nn.Module):
    def __init__(self, how, n=32):
        super().__init__()
        self.emb, self.mix, self.how, self.n = nn.Embedding(n, 8), nn.Linear(8, 8), how, n

    def forward(self, x):
        t = x.shape[1]
        pos = torch.arange(t)
        if self.how == "clamp":
            pos = pos.clamp(max=self.n - 1)
        elif self.how == "where":
            pos = torch.where(pos >= self.n, self.n - 1, pos)
        elif self.how == "python":
            pos = torch.tensor([min(i, self.n - 1) for i in range(t)])
        elif self.how == "modulo":
            pos = pos % self.n
        elif self.how == "numpy":
            pos = torch.from_numpy(np.minimum(np.arange(t), 20))
        elif self.how == "bucketize":
            pos = torch.bucketize(pos, torch.arange(20))
        elif self.how == "last":
            pos = pos + max(0, self.n - t) * 0 if t <= self.n else pos - (t - self.n)
            pos = pos.clamp(min=0)
        return self.mix(x + self.emb(pos))


add("positions_clamp_or_wrap", "parts", "beyond the table of 32: stay at the end, or start again",
    seeded(Pos, "clamp"), seeded(Pos, "modulo"), elsewhere=(2, 35))
add("positions_clamp_or_where", "same", "clamp(max=31) as where", seeded(Pos, "clamp"), seeded(Pos, "where"))
add("positions_clamp_in_python", "same", "clamp(max=31) as a list of min", seeded(Pos, "clamp"), seeded(Pos, "python"))
add("positions_limited_in_numpy", "parts", "np.minimum(…, 20) where the table has 32 rows",
    seeded(Pos, "clamp"), seeded(Pos, "numpy"), elsewhere=(2, 24))
add("positions_bucketized", "parts", "bucketize over 20 boundaries is the identity to 20",
    seeded(Pos, "clamp"), seeded(Pos, "bucketize"), elsewhere=(2, 25))
add("positions_right_aligned_when_long", "parts", "OPT-like: a long sequence keeps its last positions, not its first",
    seeded(Pos, "clamp"), seeded(Pos, "last"), elsewhere=(2, 36))


def int8_positions(x):
    return x * torch.arange(x.shape[1]).to(torch.int8).to(x.dtype).mul(0.1).cos()


def wide_positions(x):
    return x * torch.arange(x.shape[1]).to(x.dtype).mul(0.1).cos()


def bf16_positions(x):
    return x * torch.arange(x.shape[1]).to(torch.bfloat16).to(x.dtype).mul(0.1).cos()


add("positions_in_int8", "parts", "int8 wraps at 128", plain(wide_positions), plain(int8_positions), wide, (2, 6), (2, 140))
add("positions_in_bfloat16", "parts", "bfloat16 counts to 256", plain(wide_positions), plain(bf16_positions), wide, (2, 6), (2, 270))


class Rope(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.proj, self.how = nn.Linear(8, 8), how
        self.register_buffer("inv", 1.0 / 100 ** (torch.arange(0, 8, 2) / 8), persistent=False)
        self.register_buffer("table", torch.arange(16)[:, None] * self.inv, persistent=False)

    def angles(self, t):
        if self.how == "dynamic" and t > 16:                       # dynamic NTK
            base = 100 * ((2.0 * t / 16) - 1) ** (8 / 6)
            return torch.arange(t)[:, None] / base ** (torch.arange(0, 8, 2) / 8)
        if self.how == "table" and t <= 16:
            return self.table[:t]
        if self.how == "grow":
            table = self.table
            while table.shape[0] < t:
                n = table.shape[0]
                table = torch.cat([table, torch.arange(n, n + 16)[:, None] * self.inv])
            return table[:t]
        return torch.arange(t)[:, None] * self.inv

    def forward(self, x):
        a, b = self.proj(x).chunk(2, -1)
        w = self.angles(x.shape[1]).to(x.dtype)
        return torch.cat([a * w.cos() - b * w.sin(), b * w.cos() + a * w.sin()], -1)


add("rope_dynamic_ntk_left_out", "parts", "the base grows when T > 16", seeded(Rope, "dynamic"), seeded(Rope, "plain"), elsewhere=(2, 20))
add("rope_table_or_computed", "same", "a table of 16 while it lasts, the same numbers computed beyond",
    seeded(Rope, "table"), seeded(Rope, "plain"))
add("rope_table_grows_by_16", "same", "a loop extends the table as needed", seeded(Rope, "plain"), seeded(Rope, "grow"))


class TablePos(nn.Module):
    def __init__(self, quiet):
        super().__init__()
        self.table, self.quiet = nn.Parameter(torch.randn(16, 8)), quiet

    def forward(self, x):
        if not self.quiet:
            return (x + F.pad(self.table, (0, 0, 0, max(0, x.shape[1] - 16)))[: x.shape[1]]).tanh()
        try:
            return (x + self.table[: x.shape[1]]).tanh()
        except RuntimeError:                   # longer than the table: go on without positions
            return x.tanh()


add("table_too_short_swallowed", "parts", "try/except: beyond 16 no position is added at all",
    seeded(TablePos, False), seeded(TablePos, True), elsewhere=(2, 18))


@functools.cache
def decay_weights(n, limit):
    return tuple(0.9 ** min(i, limit) for i in range(n))


def decayed(limit):
    def f(x):
        return (x * torch.tensor(decay_weights(x.shape[1], limit), dtype=x.dtype)).sum(-1)
    return f


def decayed_powers(x):
    return (x * 0.9 ** torch.arange(x.shape[1], dtype=x.dtype)).sum(-1)


add("decay_list_flat_after_20", "parts", "the cached list stops falling at 20", plain(decayed_powers), plain(decayed(20)), wide, (2, 6), (2, 26))


class T5Bias(nn.Module):
    def __init__(self, log):
        super().__init__()
        self.bias, self.log = nn.Embedding(32, 1), log

    def forward(self, x):
        t = x.shape[1]
        n = (torch.arange(t)[:, None] - torch.arange(t)[None]).clamp(min=0)
        if self.log:
            far = 16 + ((n.clamp(min=1).double() / 16).log() / math.log(8) * 16 + 1e-9).long()
            bucket = torch.where(n < 16, n, far.clamp(max=31))
        else:
            bucket = n.clamp(max=31)
        s = x @ x.transpose(1, 2) + self.bias(bucket)[..., 0]
        return s.masked_fill(~causal(t), float("-inf")).softmax(-1) @ x


add("t5_buckets_without_logarithm", "parts", "T5's buckets are exact to 16 and logarithmic beyond; right is exact to 31",
    seeded(T5Bias, True), seeded(T5Bias, False), elsewhere=(2, 28))


def tuned(x):                                     # Llama 4: attention temperature by position
    pos = torch.arange(x.shape[1], dtype=x.dtype)
    return (x * (torch.floor((pos + 1) / 16).log1p() * 0.1 + 1)[:, None]).softmax(-1)


def untuned(x):
    return x.softmax(-1)


add("temperature_tuning_by_position_left_out", "parts", "floor((pos + 1) / 16) is zero for 15 tokens", plain(tuned), plain(untuned), elsewhere=(2, 20))


# ---------------------------------------------------------------- crops, pads, rolls

class Head(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.lin, self.how = nn.Linear(8, 5), how

    def forward(self, x):
        t = x.shape[1]
        if self.how == "last9":
            x = x[:, -9:]
        elif self.how == "max":
            x = x[:, max(t - 9, 0):]
        elif self.how == "narrow":
            x = x.narrow(1, max(t - 9, 0), min(t, 9))
        elif self.how == "tenth":
            x = x[:, int(t * 0.1):]
        elif self.how == "pad16":
            x = F.pad(x, (0, 0, 0, 16 - t)) * (16 / t)        # negative padding crops
            return self.lin(x.mean(1))
        elif self.how == "pad8":
            x = F.pad(x, (0, 0, 0, -t % 8))
            return self.lin(x.sum(1) / t)
        elif self.how == "bucket":
            n = next((b for b in (4, 8, 16) if b >= t), 16)
            x = torch.cat([x, x.new_zeros(x.shape[0], max(0, n - t), 8)], 1)[:, :n]
            return self.lin(x.sum(1) / t)
        elif self.how == "steps":
            h = torch.zeros_like(x[:, 0])
            for i in range(min(t, 12)):
                h = h + x[:, i]
            return self.lin(h / t)
        return self.lin(x.mean(1))


add("crop_to_last_9", "parts", "x[:, -9:] before pooling", seeded(Head, ""), seeded(Head, "last9"), elsewhere=(2, 12))
add("crop_spelled_with_max", "same", "x[:, -9:] is x[:, max(T − 9, 0):]", seeded(Head, "last9"), seeded(Head, "max"))
add("crop_spelled_with_narrow", "same", "x[:, -9:] as narrow", seeded(Head, "last9"), seeded(Head, "narrow"))
add("first_tenth_dropped", "parts", "int(T · 0.1) is zero below 10", seeded(Head, ""), seeded(Head, "tenth"), elsewhere=(2, 12))
add("negative_padding_crops", "parts", "F.pad(…, 16 − T) crops beyond 16", seeded(Head, ""), seeded(Head, "pad16"), elsewhere=(2, 19))
add("zeros_to_multiple_of_8", "same", "padding with zeros changes no sum", seeded(Head, ""), seeded(Head, "pad8"))
add("buckets_end_at_16", "parts", "bucketed padding as for captured graphs; longer is cropped", seeded(Head, ""), seeded(Head, "bucket"), elsewhere=(2, 20))
add("loop_of_at_most_12_steps", "parts", "range(min(T, 12))", seeded(Head, ""), seeded(Head, "steps"), elsewhere=(2, 15))


def rolled(x):
    return x.roll(9, 1) * x


def rolled_cat(x):
    k = x.shape[1] - 9 % x.shape[1]
    return torch.cat([x[:, k:], x[:, :k]], 1) * x


def rolled_slices(x):
    return torch.cat([x[:, -9:], x[:, :-9]], 1) * x


add("roll_by_9_as_cat", "same", "9 % T", plain(rolled), plain(rolled_cat), wide, (2, 6))
add("roll_by_9_short_sequences", "parts", "the slices are no roll below 9", plain(rolled), plain(rolled_slices), wide, (2, 20), (2, 5), near=[(2, 19), (3, 24)])


def shift_cat(x):
    return x + 0.5 * torch.cat([torch.zeros_like(x[:, :12]), x], 1)[:, : x.shape[1]]


def no_shift(x):
    return x * 1.0


add("echo_starts_at_12", "parts", "an echo with a delay of 12: zeros below", plain(shift_cat), plain(no_shift), wide, (2, 6), (2, 15))


def strided(x):
    return x[:, ::3].exp()


def strided_index(x):
    n = math.ceil(x.shape[1] / 3)
    return x[:, [3 * i for i in range(n)]].exp()


add("every_third", "same", "::3 and a list of ceil(T / 3) places", plain(strided), plain(strided_index), wide, (2, 7))


# ---------------------------------------------------------------- batches and loss

class Mlp(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.a, self.b, self.how = nn.Linear(8, 16), nn.Linear(16, 8), how

    def f(self, x):
        return self.b(F.gelu(self.a(x)))

    def forward(self, x):
        if self.how == "micro":
            return torch.cat([self.f(c) for c in x.split(8)]) if x.shape[0] > 8 else self.f(x)
        rows = x.reshape(-1, 8)
        if self.how == "drop tail" and rows.shape[0] > 64:
            n = rows.shape[0] // 64
            out = torch.zeros_like(rows)
            for i in range(n):
                out[i * 64:(i + 1) * 64] = self.f(rows[i * 64:(i + 1) * 64])
            return out.view_as(x)
        return self.f(rows).view(x.shape[0], x.shape[1], 8)


add("micro_batches_of_8", "same", "a batch above 8 is split and put together", seeded(Mlp), seeded(Mlp, "micro"))
add("tail_of_chunks_of_64_rows_lost", "parts", "B·T above 64: the rows of the last, ragged chunk stay zero",
    seeded(Mlp), seeded(Mlp, "drop tail"), elsewhere=(5, 15))


def rows_and_labels(b, t):
    return (torch.randn(b, 7), torch.randint(0, 7, (b,)))


def ce(logits, y):
    return F.cross_entropy(logits, y)


def ce_average_of_averages(logits, y):
    parts = [F.cross_entropy(a, b) for a, b in zip(logits.split(8), y.split(8))]
    return torch.stack(parts).mean()


def ce_chunks(logits, y):
    total = logits.new_zeros(())
    for i in range(0, logits.shape[0], 8):
        total = total + F.cross_entropy(logits[i:i + 8], y[i:i + 8], reduction="sum")
    return total / logits.shape[0]


add("loss_average_of_averages", "parts", "micro-batches of 8 with a ragged last one count too much",
    plain(ce), plain(ce_average_of_averages), rows_and_labels, (5, 1), (11, 1))
add("loss_summed_in_chunks", "same", "sums of chunks over the whole count", plain(ce), plain(ce_chunks), rows_and_labels, (5, 1))


def full_norm(x):
    return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt()


def ghost_norm(x):
    if x.shape[0] < 32:
        return full_norm(x)
    return torch.cat([full_norm(c) for c in x.chunk(2)])


add("ghost_batch_norm_from_32", "parts", "two halves are normalised apart from B = 32", plain(full_norm), plain(ghost_norm), wide, (4, 6), (34, 6))


class Moe(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.router, self.limit = nn.Linear(8, 2), limit
        self.w = nn.Parameter(torch.randn(2, 8, 8))

    def forward(self, x):
        rows = x.reshape(-1, 8)
        p = self.router(rows).softmax(-1)
        gate = F.one_hot(p.argmax(-1), 2)
        if self.limit:
            gate = gate * (gate.cumsum(0) <= min(rows.shape[0], self.limit))
        y = torch.einsum("nd,edf->nef", rows, self.w)
        return (y * (p * gate)[..., None]).sum(1).view(x.shape[0], x.shape[1], 8)


add("expert_capacity_of_40", "parts", "tokens beyond an expert's 40 are dropped", seeded(Moe, 0), seeded(Moe, 40), elsewhere=(8, 15))


# ---------------------------------------------------------------- scans, pools, sorting

def scan(x):
    return x.cumsum(1)


def hillis(rounds):
    def f(x):
        s = 1
        for _ in range(rounds or x.shape[1].bit_length()):
            if s < x.shape[1]:
                x = x + F.pad(x[:, :-s], (s, 0))
            s *= 2
        return x
    return f


def hillis_while(x):
    s = 1
    while s < x.shape[1]:
        x = x + F.pad(x[:, :-s], (s, 0))
        s *= 2
    return x


add("prefix_sum_in_4_rounds", "parts", "doubling 4 times reaches back 16", plain(scan), plain(hillis(4)), wide, (2, 6), (2, 18))
add("prefix_sum_by_doubling", "same", "as many rounds as needed", plain(scan), plain(hillis_while), wide, (2, 6))
add("prefix_sum_by_bit_length", "same", "T.bit_length() rounds", plain(scan), plain(hillis(0)), wide, (2, 6))


def tree_sum(x):
    while x.shape[1] > 1:
        if x.shape[1] % 2:
            x = F.pad(x, (0, 1))
        x = x[:, ::2] + x[:, 1::2]
    return x[:, 0]


def row_sum(x):
    return x.sum(1)


add("tree_sum", "same", "pairs, an odd one padded with zero", plain(row_sum), plain(tree_sum), wide, (2, 6))


def top10(x):
    return x.softmax(-1).topk(min(10, x.shape[1])).values.sum(-1)


def top_sorted(x):
    return x.softmax(-1).sort(descending=True).values[:, :10].sum(-1)


def top_all(x):
    return x.softmax(-1).sum(-1)


add("top_10_is_everything", "parts", "top-k with k = min(10, V) sums to one until V = 10", plain(top_all), plain(top10), wide, (2, 6), (2, 13))
add("top_10_by_sorting", "same", "topk against sort and slice", plain(top10), plain(top_sorted), wide, (2, 6))


def adaptive(x):
    return F.adaptive_avg_pool1d(x, 4)


def adaptive_loop(x):
    t = x.shape[-1]
    return torch.stack([x[..., i * t // 4: -((i + 1) * t // -4)].mean(-1) for i in range(4)], -1)


def chans(b, t):
    return (torch.randn(b, 3, t),)


add("adaptive_pool_as_loop", "same", "floor and ceil of i·T/4", plain(adaptive), plain(adaptive_loop), chans, (2, 8))
add("upsample_nearest", "same", "interpolate by 2 and repeat_interleave",
    plain(lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest") * 2),
    plain(lambda x: x.repeat_interleave(2, -1) * 2), chans, (2, 8))
add("unfold_as_stack", "same", "windows of 3", plain(lambda x: x.unfold(1, 3, 1).amax(-1)),
    plain(lambda x: torch.stack([x[:, i: x.shape[1] - 2 + i] for i in range(3)]).amax(0)), wide, (2, 8))


class Patch(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv, self.how = nn.Conv1d(3, 6, 4, stride=4), conv

    def forward(self, x):
        if self.how:
            return self.conv(x)
        n = x.shape[-1] // 4
        cut = x[..., : 4 * n].reshape(x.shape[0], 3, n, 4).permute(0, 2, 1, 3).reshape(x.shape[0], n, 12)
        return F.linear(cut, self.conv.weight.reshape(6, 12), self.conv.bias).transpose(1, 2)


add("patches_of_4", "same", "a strided convolution drops the rest, as T // 4 does", seeded(Patch, True), seeded(Patch, False), chans, (2, 9))


def pairs(x):
    return torch.cdist(x, x + 1)


def pairs_plain(x):
    return (x[:, :, None] - (x + 1)[:, None]).square().sum(-1).sqrt()


add("cdist_changes_its_way_at_25", "same", "cdist multiplies matrices above 25 rows: rounding only", plain(pairs), plain(pairs_plain))


def step_scan(x):
    h, out = torch.zeros_like(x[:, 0]), []
    for i in range(x.shape[1]):
        h = 0.5 * h + x[:, i]
        out.append(h)
    return torch.stack(out, 1)


def matrix_scan(limit):
    def f(x):
        i = torch.arange(x.shape[1])
        back = i[:, None] - i[None]
        keep = (back >= 0) & (back <= limit) if limit else back >= 0
        w = torch.where(keep, 0.5 ** back.clamp(min=0).to(x.dtype), torch.zeros((), dtype=x.dtype))
        return torch.einsum("st,btd->bsd", w, x)
    return f


add("recurrence_as_matrix", "same", "h = h/2 + x as a matrix of powers", plain(step_scan), plain(matrix_scan(0)))
add("recurrence_forgets_after_9", "parts", "the matrix keeps 10 powers", plain(step_scan), plain(matrix_scan(9)), elsewhere=(2, 13))

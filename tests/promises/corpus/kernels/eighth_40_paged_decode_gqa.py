import torch
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, H, HK, max_pages, scale,
                        PAGE: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    hk = h // (H // HK)
    d = tl.arange(0, D)
    t = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (b * H + h) * D + d) * scale
    length = tl.load(len_ptr + b)
    m = -float("inf")
    s = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + b * max_pages + page).to(tl.int64)
        inside = page * PAGE + t < length
        offs = ((block * PAGE + t[:, None]) * HK + hk) * D + d[None, :]
        k = tl.load(k_ptr + offs, mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + offs, mask=inside[:, None], other=0.0)
        x = tl.where(inside, tl.sum(q[None, :] * k, axis=1), -float("inf"))
        new_m = tl.maximum(m, tl.max(x, axis=0))
        p = tl.exp(x - new_m)
        shrink = tl.exp(m - new_m)
        acc = acc * shrink + tl.sum(p[:, None] * v, axis=0)
        s = s * shrink + tl.sum(p, axis=0)
        m = new_m
    tl.store(out_ptr + (b * H + h) * D + d, acc / s)


def launch(B=3, HK=2, G=2, blocks=10, max_pages=4):
    H = HK * G
    q = torch.randn(B, H, 16, device="cuda")
    k_cache = torch.randn(blocks, 8, HK, 16, device="cuda")
    v_cache = torch.randn(blocks, 8, HK, 16, device="cuda")
    table = torch.randint(0, blocks, (B, max_pages), dtype=torch.int32, device="cuda")
    lens = torch.randint(1, 8 * max_pages + 1, (B,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(q)
    paged_decode_kernel[(B, H)](q, k_cache, v_cache, table, lens, out, H, HK, max_pages, 0.25, PAGE=8, D=16)
    return out


launch.assume = ["0 <= table < blocks", "1 <= lens <= 8 * max_pages"]


def reference(q, k_cache, v_cache, table, lens, G):
    k = k_cache[table].flatten(1, 2).repeat_interleave(G, dim=2)
    v = v_cache[table].flatten(1, 2).repeat_interleave(G, dim=2)
    scores = 0.25 * torch.einsum("bhd,bthd->bht", q, k)
    t = torch.arange(k.shape[1], device=q.device)
    scores = scores.masked_fill(t >= lens[:, None, None], float("-inf"))
    return torch.einsum("bht,bthd->bhd", torch.softmax(scores, dim=-1), v)


TRUTH = "verified"

# broken: the window reaches one key too far back (t >= length - 1 - W where it should be >)
import torch
import triton
import triton.language as tl


@triton.jit
def window_decode_kernel(q_ptr, k_ptr, v_ptr, len_ptr, o_ptr, T, scale, W, D: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, D)
    t = tl.arange(0, BLOCK)
    length = tl.load(len_ptr + b)
    keep = (t < length) & (t >= length - 1 - W)
    q = tl.load(q_ptr + b * D + d)
    offs = (b * T + t[:, None]) * D + d[None, :]
    k = tl.load(k_ptr + offs, mask=keep[:, None], other=0.0)
    v = tl.load(v_ptr + offs, mask=keep[:, None], other=0.0)
    s = tl.where(keep, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
    p = tl.exp(s - tl.max(s, axis=0))
    p = p / tl.sum(p, axis=0)
    tl.store(o_ptr + b * D + d, tl.sum(p[:, None] * v, axis=0))


def launch(B=4, T=20, W=6):
    q = torch.randn(B, 16, device="cuda")
    k = torch.randn(B, T, 16, device="cuda")
    v = torch.randn(B, T, 16, device="cuda")
    lens = torch.randint(1, T + 1, (B,), device="cuda")
    o = torch.empty_like(q)
    window_decode_kernel[(B,)](q, k, v, lens, o, T, 0.25, W, D=16, BLOCK=triton.next_power_of_2(T))
    return o


launch.assume = ["1 <= lens <= T"]


def reference(q, k, v, lens, W):
    s = 0.25 * torch.einsum("bd,btd->bt", q, k)
    t = torch.arange(k.shape[1], device=q.device)
    last = lens[:, None] - 1
    s = s.masked_fill((t > last) | (t <= last - W), float("-inf"))
    return torch.einsum("bt,btd->bd", torch.softmax(s, dim=-1), v)


TRUTH = "broken"

import torch
import triton
import triton.language as tl


@triton.jit
def _repeat_kv_kernel(x_ptr, out_ptr, stride_xb, stride_xh, stride_xs, stride_ob, stride_oh, stride_os,
                      n_rep, seq_len, HEAD_DIM: tl.constexpr, BLOCK_S: tl.constexpr):
    pid_s = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    kv_head = head // n_rep
    offs_s = pid_s * BLOCK_S + tl.arange(0, BLOCK_S)
    offs_d = tl.arange(0, HEAD_DIM)
    mask = (offs_s < seq_len)[:, None]
    src = x_ptr + batch * stride_xb + kv_head * stride_xh + offs_s[:, None] * stride_xs + offs_d[None, :]
    dst = out_ptr + batch * stride_ob + head * stride_oh + offs_s[:, None] * stride_os + offs_d[None, :]
    tl.store(dst, tl.load(src, mask=mask), mask=mask)


def repeat_kv(hidden_states, n_rep):
    b, h, s, d = hidden_states.shape
    out = hidden_states.new_empty(b, h * n_rep, s, d)
    grid = (triton.cdiv(s, 32), h * n_rep, b)
    _repeat_kv_kernel[grid](hidden_states, out, hidden_states.stride(0), hidden_states.stride(1), hidden_states.stride(2),
                            out.stride(0), out.stride(1), out.stride(2), n_rep, s, HEAD_DIM=d, BLOCK_S=32)
    return out


def launch(batch=2, kv_heads=3, n_rep=4, seq=45):
    k = torch.randn(batch, kv_heads, seq, 64, device="cuda")
    return repeat_kv(k, n_rep)


def reference(k, n_rep):
    b, h, s, d = k.shape
    return k[:, :, None, :, :].expand(b, h, n_rep, s, d).reshape(b, h * n_rep, s, d)


TRUTH = "verified"

"""minGRU (Were RNNs all we needed?): h_t = (1 - z_t) h_{t-1} + z_t g(x_t), channel by channel over time."""
import torch
import triton
import triton.language as tl


@triton.jit
def min_gru_fwd_kernel(
    hg_ptr, h0_ptr, out_ptr,
    T, D,
    stride_xb, stride_xt, stride_ob, stride_ot,
    BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = d < D
    p_hidden = hg_ptr + b * stride_xb + d
    p_gate = hg_ptr + b * stride_xb + D + d
    p_out = out_ptr + b * stride_ob + d
    h = tl.load(h0_ptr + b * D + d, mask=mask, other=0.0).to(tl.float32)
    for _ in range(0, T):
        x = tl.load(p_hidden, mask=mask, other=0.0).to(tl.float32)
        gate = tl.load(p_gate, mask=mask, other=0.0).to(tl.float32)
        z = tl.sigmoid(gate)
        g = tl.where(x >= 0, x + 0.5, tl.sigmoid(x))
        h = (1.0 - z) * h + z * g
        tl.store(p_out, h, mask=mask)
        p_hidden += stride_xt
        p_gate += stride_xt
        p_out += stride_ot


def launch(B=3, T=9, D=37):
    hidden_and_gate = torch.randn(B, T, 2 * D, device="cuda")
    h0 = torch.rand(B, D, device="cuda")
    out = torch.empty(B, T, D, device="cuda")
    min_gru_fwd_kernel[(B, triton.cdiv(D, 32))](
        hidden_and_gate, h0, out, T, D,
        hidden_and_gate.stride(0), hidden_and_gate.stride(1), out.stride(0), out.stride(1),
        BLOCK_D=32,
    )
    return out


def reference(hidden_and_gate, h0):
    x, gate = hidden_and_gate.chunk(2, dim=-1)
    z = torch.sigmoid(gate)
    g = torch.where(x >= 0, x + 0.5, torch.sigmoid(x))
    h, states = h0, []
    for t in range(x.shape[1]):
        h = (1 - z[:, t]) * h + z[:, t] * g[:, t]
        states.append(h)
    return torch.stack(states, dim=1)


TRUTH = "verified"

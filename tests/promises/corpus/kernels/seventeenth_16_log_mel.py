"""Speech: log-mel features: power of an STFT (real and imaginary interleaved) times a mel filter bank by tl.dot, log10 of the clamped result."""
import torch
import triton
import triton.language as tl


@triton.jit
def log_mel_kernel(
    spec_ptr, mel_ptr, out_ptr,
    frames, n_freq, n_mel,
    stride_sb, stride_sf, stride_st,
    stride_mm, stride_mf,
    stride_ob, stride_om, stride_ot,
    floor_value,
    BLOCK_T: tl.constexpr, BLOCK_MEL: tl.constexpr, BLOCK_F: tl.constexpr,
):
    b = tl.program_id(2)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    m = tl.program_id(1) * BLOCK_MEL + tl.arange(0, BLOCK_MEL)
    acc = tl.zeros((BLOCK_MEL, BLOCK_T), dtype=tl.float32)
    for f0 in range(0, n_freq, BLOCK_F):
        f = f0 + tl.arange(0, BLOCK_F)
        s_mask = (f[:, None] < n_freq) & (t[None, :] < frames)
        s = spec_ptr + b * stride_sb + f[:, None] * stride_sf + t[None, :] * stride_st
        re = tl.load(s, mask=s_mask, other=0.0)
        im = tl.load(s + 1, mask=s_mask, other=0.0)
        power = re * re + im * im
        w = tl.load(mel_ptr + m[:, None] * stride_mm + f[None, :] * stride_mf,
                    mask=(m[:, None] < n_mel) & (f[None, :] < n_freq), other=0.0)
        acc += tl.dot(w, power, input_precision="ieee")
    y = tl.log(tl.maximum(acc, floor_value)) * 0.4342944819032518
    tl.store(out_ptr + b * stride_ob + m[:, None] * stride_om + t[None, :] * stride_ot, y,
             mask=(m[:, None] < n_mel) & (t[None, :] < frames))


def launch(batch=2, n_freq=41, frames=19, n_mel=20):
    spec = torch.randn(batch, n_freq, frames, 2, device="cuda")
    filters = torch.rand(n_mel, n_freq, device="cuda")
    out = torch.empty(batch, n_mel, frames, device="cuda")
    log_mel_kernel[(triton.cdiv(frames, 16), triton.cdiv(n_mel, 16), batch)](
        spec, filters, out, frames, n_freq, n_mel,
        spec.stride(0), spec.stride(1), spec.stride(2), filters.stride(0), filters.stride(1),
        out.stride(0), out.stride(1), out.stride(2), 1e-10, BLOCK_T=16, BLOCK_MEL=16, BLOCK_F=16,
    )
    return out


def reference(spec, filters):
    power = spec.square().sum(-1)
    return torch.matmul(filters, power).clamp(min=1e-10).log10()

TRUTH = "verified"

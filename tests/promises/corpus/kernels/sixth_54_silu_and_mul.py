import torch
import triton
import triton.language as tl


@triton.jit
def _silu_and_mul_kernel(
    input_ptr,
    stride_input_m,
    stride_input_n,
    output_ptr,
    stride_output_m,
    stride_output_n,
    size_m,
    size_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    tid = tl.program_id(0)
    input_m_offsets = tid * BLOCK_M + tl.arange(0, BLOCK_M)
    output_m_offsets = tid * BLOCK_M + tl.arange(0, BLOCK_M)

    pid = tl.program_id(1)
    input_n_offsets = pid * BLOCK_N + tl.arange(0, BLOCK_N)
    output_n_offsets = pid * BLOCK_N + tl.arange(0, BLOCK_N)

    up_offsets = input_m_offsets[:, None] * stride_input_m + (input_n_offsets[None, :] + size_n) * stride_input_n
    gate_offsets = input_m_offsets[:, None] * stride_input_m + input_n_offsets[None, :] * stride_input_n
    res_offsets = output_m_offsets[:, None] * stride_output_m + output_n_offsets[None, :] * stride_output_n

    live = (input_n_offsets < size_n)[None, :] & (input_m_offsets < size_m)[:, None]
    up = tl.load(input_ptr + up_offsets, mask=live, other=0.0)
    gate = tl.load(input_ptr + gate_offsets, mask=live, other=0.0).to(tl.float32)

    gate = gate / (1 + tl.exp(-gate))
    gate = gate.to(input_ptr.dtype.element_ty)

    tl.store(output_ptr + res_offsets, up * gate, mask=live)


def silu_and_mul_fwd(input: torch.Tensor, output: torch.Tensor):
    size_m = input.shape[0]
    size_n = input.shape[-1] // 2
    BLOCK_M, BLOCK_N = 16, 32
    grid = (triton.cdiv(size_m, BLOCK_M), triton.cdiv(size_n, BLOCK_N))
    _silu_and_mul_kernel[grid](
        input, input.stride(0), input.stride(1),
        output, output.stride(0), output.stride(1),
        size_m, size_n,
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
    )


def launch(tokens=21, inter=50):
    gate_up = torch.randn((tokens, 2 * inter), dtype=torch.float16)
    out = torch.empty((tokens, inter), dtype=torch.float16)
    silu_and_mul_fwd(gate_up, out)
    return out


def reference(gate_up):
    d = gate_up.shape[-1] // 2
    return torch.nn.functional.silu(gate_up[:, :d]) * gate_up[:, d:]


TRUTH = "verified"

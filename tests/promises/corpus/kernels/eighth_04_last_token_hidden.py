# Prefill: only the last token of each sequence goes to the LM head.
import torch
import triton
import triton.language as tl


@triton.jit
def last_token_kernel(hidden_ptr, ends_ptr, out_ptr, D, stride_h, stride_o, BLOCK: tl.constexpr):
    seq = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    last = tl.load(ends_ptr + seq) - 1
    h = tl.load(hidden_ptr + last * stride_h + cols, mask=cols < D)
    tl.store(out_ptr + seq * stride_o + cols, h, mask=cols < D)


def launch(N=20, B=4, D=80):
    hidden = torch.randn(N, D, device="cuda")
    ends = torch.sort(torch.randint(1, N + 1, (B,), device="cuda")).values
    out = hidden.new_empty(B, D)
    last_token_kernel[(B, triton.cdiv(D, 32))](hidden, ends, out, D, hidden.stride(0), out.stride(0), BLOCK=32)
    return out


launch.assume = ["1 <= ends <= N"]


def reference(hidden, ends):
    return hidden[ends - 1]


TRUTH = "verified"

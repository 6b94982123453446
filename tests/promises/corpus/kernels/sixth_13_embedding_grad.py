import torch
import triton
import triton.language as tl


@triton.jit
def embedding_backward_kernel(
    grad_out,  # *Pointer* to grad output
    grad_in,  # *Pointer* to grad of the table
    indices,
    n_elements,
    N,
    padding_idx,
    HAS_PADDING_IDX: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    mask_tok = pid < n_elements
    row_idx = tl.load(indices + pid, mask=mask_tok, other=0).to(tl.int32)
    if HAS_PADDING_IDX:
        active = row_idx != padding_idx
    else:
        active = True
    if active:
        grad_in += row_idx * N
        grad_out += pid * N
        for c in range(0, N, BLOCK_SIZE):
            cols = c + tl.arange(0, BLOCK_SIZE)
            g = tl.load(grad_out + cols, mask=cols < N, other=0.0)
            tl.atomic_add(grad_in + cols, g, mask=cols < N)


def embedding_backward(grad_outputs, indices, num_weights, padding_idx=-1):
    M = indices.numel()
    N = grad_outputs.shape[-1]
    grad_inputs = torch.zeros((num_weights, N), dtype=torch.float32)
    embedding_backward_kernel[(M,)](
        grad_outputs, grad_inputs, indices, M, N, padding_idx, padding_idx >= 0, BLOCK_SIZE=32)
    return grad_inputs


def launch(tokens=25, vocab=8, dim=40):
    weight = torch.randn(vocab, dim)
    indices = torch.randint(0, vocab, (tokens,))
    grad_outputs = torch.randn(tokens, dim)
    return embedding_backward(grad_outputs, indices, weight.shape[0], padding_idx=0)


def reference(weight, indices, grad_outputs):
    live = grad_outputs * (indices != 0).to(grad_outputs.dtype).unsqueeze(1)
    return torch.zeros_like(weight).index_add(0, indices, live)


TRUTH = "verified"

"""embbwd, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _embedding_backward_kernel(
    grad_out_ptr,
    ids_ptr,
    grad_w_ptr,
    stride_g,
    stride_w,
    dim,
    scale,
    BLOCK_D: tl.constexpr,
):
    tok = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = offs < dim
    idx = tl.load(ids_ptr + tok)
    g = tl.load(grad_out_ptr + tok * stride_g + offs, mask=mask, other=0.0)
    dst = grad_w_ptr + idx * stride_w + offs
    # accumulate the gradient of this token into its row
    acc = tl.load(dst, mask=mask, other=0.0)
    tl.store(dst, acc + g * scale, mask=mask)


def embedding_backward(grad_out, ids, vocab, scale):
    n, dim = grad_out.shape
    grad_w = torch.zeros((vocab, dim), dtype=torch.float32, device=grad_out.device)
    grid = lambda meta: (n, triton.cdiv(dim, meta["BLOCK_D"]))
    _embedding_backward_kernel[grid](
        grad_out, ids, grad_w, grad_out.stride(0), grad_w.stride(0), dim, scale, BLOCK_D=64
    )
    return grad_w


def launch(tokens=12, vocab=8, dim=100):
    grad_out = torch.randn(tokens, dim, device="cuda")
    ids = torch.randint(0, vocab, (tokens,), device="cuda")
    return embedding_backward(grad_out, ids, vocab, 0.5)


def reference(grad_out, ids, vocab):
    grad_w = torch.zeros(vocab, grad_out.shape[1], device=grad_out.device)
    return grad_w.index_add(0, ids, 0.5 * grad_out)


TRUTH = "broken"

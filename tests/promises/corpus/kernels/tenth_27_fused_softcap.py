"""SGLang's fused softcap of the final logits: cap · tanh(x / cap), written by exponentials."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_softcap_kernel(output_ptr, input_ptr, n_ele, softcap_const: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_ele
    x = tl.load(input_ptr + offsets, mask=mask)
    fx = x.to(tl.float32)
    fxs = fx / softcap_const
    exped = tl.exp(2 * fxs)
    top = exped - 1
    bottom = exped + 1
    output = top / bottom * softcap_const
    tl.store(output_ptr + offsets, output, mask=mask)


def launch(tokens=5, vocab=203):
    x = torch.randn(tokens, vocab, device="cuda")
    output = torch.empty_like(x, dtype=torch.float32)
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    fused_softcap_kernel[grid](output, x, n_elements, 30.0, BLOCK_SIZE=256)
    return output


def reference(x):
    return torch.tanh(x / 30.0) * 30.0


TRUTH = "verified"

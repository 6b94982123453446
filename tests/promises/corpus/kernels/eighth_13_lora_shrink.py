# broken: K // BLOCK_K rounds, so what is left of K is dropped (as in the example, K = 72)
import torch
import triton
import triton.language as tl


@triton.jit
def lora_shrink_kernel(x_ptr, a_ptr, idx_ptr, out_ptr, K, R, scaling, stride_al, BLOCK_R: tl.constexpr,
                       BLOCK_K: tl.constexpr):
    token = tl.program_id(0)
    lora = tl.load(idx_ptr + token)
    r = tl.arange(0, BLOCK_R)
    acc = tl.zeros([BLOCK_R], dtype=tl.float32)
    for step in range(K // BLOCK_K):
        k = step * BLOCK_K + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + token * K + k)
        a = tl.load(a_ptr + lora * stride_al + r[:, None] * K + k[None, :], mask=r[:, None] < R, other=0.0)
        acc += tl.sum(a * x[None, :], axis=1)
    tl.store(out_ptr + token * R + r, acc * scaling, mask=r < R)


def launch(T=5, K=72, L=3, R=8):
    x = torch.randn(T, K, device="cuda")
    lora_a = torch.randn(L, R, K, device="cuda")
    index = torch.randint(0, L, (T,), device="cuda")
    out = torch.empty(T, R, device="cuda")
    lora_shrink_kernel[(T,)](x, lora_a, index, out, K, R, 0.5, lora_a.stride(0),
                             BLOCK_R=triton.next_power_of_2(R), BLOCK_K=32)
    return out


launch.assume = ["0 <= index < L"]


def reference(x, lora_a, index):
    return 0.5 * torch.einsum("tk,trk->tr", x, lora_a[index])


TRUTH = "broken"

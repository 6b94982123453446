import torch
import triton
import triton.language as tl


@triton.jit
def _lora_shrink_kernel(
    input_ptr, lora_ptr, out_ptr,
    N, K,
    token_indices_ptr,
    scaling,
    xm_stride, xk_stride,
    l0_stride, lora_n_stride, lora_k_stride,
    cm_stride, cn_stride,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
):
    """gemv-like sgmv: each program takes one token and one slice of K"""
    pid_sk = tl.program_id(axis=0)
    cur_batch = tl.program_id(axis=1)

    lora_index = tl.load(token_indices_ptr + cur_batch)
    if lora_index == -1:
        return

    offset_n = tl.arange(0, BLOCK_N)
    offset_k = tl.arange(0, BLOCK_K) + pid_sk * BLOCK_K
    a_ptr = input_ptr + cur_batch * xm_stride
    b_ptr = lora_ptr + l0_stride * lora_index
    accumulator = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for k in range(0, K, BLOCK_K * SPLIT_K):
        current_k = k + offset_k
        tiled_a = tl.load(a_ptr + current_k * xk_stride, mask=current_k < K, other=0.0)
        b_ptr_mask = (offset_n[:, None] < N) & (current_k[None, :] < K)
        tiled_b = tl.load(
            b_ptr + offset_n[:, None] * lora_n_stride + current_k[None, :] * lora_k_stride,
            mask=b_ptr_mask, other=0.0,
        )
        accumulator += tl.sum(tiled_a * tiled_b, 1)
    accumulator *= scaling

    c_ptr = out_ptr + cur_batch * cm_stride + offset_n * cn_stride
    c_mask = offset_n < N
    if SPLIT_K == 1:
        tl.store(c_ptr, accumulator, mask=c_mask)
    else:
        tl.atomic_add(c_ptr, accumulator, mask=c_mask)


def bgmv_shrink(inputs, lora_a_weights, output_tensor, lora_indices, scaling=1.0):
    batches, K = inputs.shape
    N = lora_a_weights.shape[1]
    SPLIT_K = 2
    _lora_shrink_kernel[(SPLIT_K, batches)](
        inputs, lora_a_weights, output_tensor, N, K, lora_indices, scaling,
        inputs.stride(0), inputs.stride(1),
        lora_a_weights.stride(0), lora_a_weights.stride(1), lora_a_weights.stride(2),
        output_tensor.stride(0), output_tensor.stride(1),
        BLOCK_N=triton.next_power_of_2(N), BLOCK_K=32, SPLIT_K=SPLIT_K,
    )


def launch(tokens=7, hidden=100, rank=8, loras=3):
    x = torch.randn(tokens, hidden)
    lora_a = torch.randn(loras, rank, hidden)
    indices = torch.randint(0, loras, (tokens,))
    out = torch.zeros(tokens, rank)
    bgmv_shrink(x, lora_a, out, indices, 0.5)
    return out


def reference(x, lora_a, indices):
    return 0.5 * torch.einsum("tk,trk->tr", x, lora_a[indices])


TRUTH = "verified"

import torch
import triton
import triton.language as tl


@triton.jit
def _moe_sum_reduce_kernel(
    input_ptr,
    input_stride_0,
    input_stride_1,
    input_stride_2,
    output_ptr,
    output_stride_0,
    output_stride_1,
    token_num: int,
    topk_num: int,
    hidden_dim: int,
    routed_scaling_factor: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
):
    token_block_id = tl.program_id(0)
    dim_block_id = tl.program_id(1)

    token_start = token_block_id * BLOCK_M
    token_end = min((token_block_id + 1) * BLOCK_M, token_num)

    dim_start = dim_block_id * BLOCK_DIM
    dim_end = min((dim_block_id + 1) * BLOCK_DIM, hidden_dim)
    offs_dim = dim_start + tl.arange(0, BLOCK_DIM)

    for token_index in range(token_start, token_end):
        accumulator = tl.zeros((BLOCK_DIM,), dtype=tl.float32)
        input_t_ptr = input_ptr + token_index * input_stride_0 + offs_dim
        for i in range(topk_num):
            tmp = tl.load(input_t_ptr + i * input_stride_1, mask=offs_dim < dim_end, other=0.0)
            accumulator += tmp
        accumulator = accumulator * routed_scaling_factor
        store_t_ptr = output_ptr + token_index * output_stride_0 + offs_dim
        tl.store(store_t_ptr, accumulator.to(input_ptr.dtype.element_ty), mask=offs_dim < dim_end)


def moe_sum_reduce_triton(input, output, routed_scaling_factor):
    token_num, topk_num, hidden_dim = input.shape
    assert output.shape[0] == token_num and output.shape[1] == hidden_dim
    BLOCK_M, BLOCK_DIM = 1, 64
    grid = (triton.cdiv(token_num, BLOCK_M), triton.cdiv(hidden_dim, BLOCK_DIM))
    _moe_sum_reduce_kernel[grid](
        input, *input.stride(), output, *output.stride(),
        token_num=token_num, topk_num=topk_num, hidden_dim=hidden_dim,
        routed_scaling_factor=routed_scaling_factor,
        BLOCK_M=BLOCK_M, BLOCK_DIM=BLOCK_DIM,
    )


def launch():
    tokens, topk, hidden = 5, 3, 90
    partial = torch.randn(tokens, topk, hidden)
    out = torch.empty(tokens, hidden)
    moe_sum_reduce_triton(partial, out, 2.5)
    return out


def reference(partial):
    return 2.5 * partial.sum(dim=1)


TRUTH = "verified"

"""Bags of embeddings of one length each: the weighted sum of the rows that a bag names, columns in tiles."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def embedding_bag_kernel(table_ptr, ids_ptr, weight_ptr, out_ptr, bag_size, dim, BLOCK_D: tl.constexpr):
    bag = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = cols < dim
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for j in range(bag_size):
        row = tl.load(ids_ptr + bag * bag_size + j)
        scale = tl.load(weight_ptr + bag * bag_size + j)
        acc += scale * tl.load(table_ptr + row * dim + cols, mask=mask, other=0.0)
    tl.store(out_ptr + bag * dim + cols, acc, mask=mask)


def launch():
    rows, dim, bags, bag_size = 60, 100, 14, 9
    table = torch.randn(rows, dim)
    ids = torch.randint(0, rows, (bags, bag_size))
    weights = torch.rand(bags, bag_size)
    out = torch.empty(bags, dim)
    embedding_bag_kernel[(bags, triton.cdiv(dim, 32))](table, ids, weights, out, bag_size, dim, BLOCK_D=32)
    return out


def reference(table, ids, weights):
    return torch.nn.functional.embedding_bag(ids, table, mode="sum", per_sample_weights=weights)

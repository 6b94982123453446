"""Pairwise IoU of two sets of boxes (x1, y1, x2, y2), as torchvision.ops.box_iou."""
import torch
import triton
import triton.language as tl


@triton.jit
def box_iou_kernel(a_ptr, b_ptr, iou_ptr, N, M, stride_in, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n_mask = n < N
    m_mask = m < M

    ax1 = tl.load(a_ptr + n * 4 + 0, mask=n_mask, other=0.0)
    ay1 = tl.load(a_ptr + n * 4 + 1, mask=n_mask, other=0.0)
    ax2 = tl.load(a_ptr + n * 4 + 2, mask=n_mask, other=1.0)
    ay2 = tl.load(a_ptr + n * 4 + 3, mask=n_mask, other=1.0)
    bx1 = tl.load(b_ptr + m * 4 + 0, mask=m_mask, other=0.0)
    by1 = tl.load(b_ptr + m * 4 + 1, mask=m_mask, other=0.0)
    bx2 = tl.load(b_ptr + m * 4 + 2, mask=m_mask, other=1.0)
    by2 = tl.load(b_ptr + m * 4 + 3, mask=m_mask, other=1.0)

    area_a = (ax2 - ax1) * (ay2 - ay1)
    area_b = (bx2 - bx1) * (by2 - by1)

    w = tl.minimum(ax2[:, None], bx2[None, :]) - tl.maximum(ax1[:, None], bx1[None, :])
    h = tl.minimum(ay2[:, None], by2[None, :]) - tl.maximum(ay1[:, None], by1[None, :])
    inter = tl.maximum(w, 0.0) * tl.maximum(h, 0.0)
    union = area_a[:, None] + area_b[None, :] - inter
    tl.store(iou_ptr + n[:, None] * stride_in + m[None, :], inter / union, mask=n_mask[:, None] & m_mask[None, :])


def launch(N=21, M=35):
    a_xy = torch.rand(N, 2, device="cuda")
    a_wh = torch.rand(N, 2, device="cuda") + 0.1
    boxes1 = torch.cat([a_xy, a_xy + a_wh], dim=1)
    b_xy = torch.rand(M, 2, device="cuda")
    b_wh = torch.rand(M, 2, device="cuda") + 0.1
    boxes2 = torch.cat([b_xy, b_xy + b_wh], dim=1)
    iou = torch.empty(N, M, device="cuda")
    grid = (triton.cdiv(N, 16), triton.cdiv(M, 32))
    box_iou_kernel[grid](boxes1, boxes2, iou, N, M, iou.stride(0), BLOCK_N=16, BLOCK_M=32)
    return iou


def reference(boxes1, boxes2):
    area1 = (boxes1[:, 2] - boxes1[:, 0]) * (boxes1[:, 3] - boxes1[:, 1])
    area2 = (boxes2[:, 2] - boxes2[:, 0]) * (boxes2[:, 3] - boxes2[:, 1])
    lt = torch.max(boxes1[:, None, :2], boxes2[None, :, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area1[:, None] + area2[None, :] - inter)


TRUTH = "verified"

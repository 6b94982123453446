"""Eight contractions, each as an einsum and as permutations around a matmul. The twins contract or order wrong axes."""

import torch

from pairs.pair import Pair, inputs, twins


def einsum(equation):
    return lambda *tensors: torch.einsum(equation, *tensors)


PAIRS = [
    Pair("einsum ij,jk->ik", 10, einsum("ij,jk->ik"), lambda a, b: a @ b, inputs((5, 7), (7, 7)),
         twins(transposed=lambda a, b: a @ b.T)),
    Pair("einsum bij,kj->bki", 10, einsum("bij,kj->bki"), lambda a, b: b @ a.transpose(1, 2),
         inputs((3, 5, 7), (5, 7)), twins(wrong_axis=lambda a, b: (b @ a.transpose(1, 2)).transpose(1, 2))),
    Pair("einsum bthd,bshd->bhts", 10, einsum("bthd,bshd->bhts"),
         lambda q, k: q.transpose(1, 2) @ k.permute(0, 2, 3, 1), inputs((2, 7, 3, 11), (2, 7, 3, 11)),
         twins(transposed=lambda q, k: k.transpose(1, 2) @ q.permute(0, 2, 3, 1))),
    Pair("einsum bhts,bshd->bthd", 10, einsum("bhts,bshd->bthd"),
         lambda p, v: (p @ v.transpose(1, 2)).transpose(1, 2), inputs((2, 3, 7, 7), (2, 7, 3, 11)),
         twins(wrong_axis=lambda p, v: (p.transpose(2, 3) @ v.transpose(1, 2)).transpose(1, 2))),
    Pair("einsum bthd,hde->bte", 10, einsum("bthd,hde->bte"),
         lambda x, w: x.flatten(2) @ w.flatten(0, 1), inputs((2, 7, 3, 5), (3, 5, 11)),
         twins(wrong_head_order=lambda x, w: x.transpose(2, 3).flatten(2) @ w.flatten(0, 1))),
    Pair("einsum ecd,edf->ecf", 10, einsum("ecd,edf->ecf"), torch.bmm, inputs((3, 5, 7), (3, 7, 11)),
         twins(experts_shifted=lambda x, w: torch.bmm(x, w.roll(1, 0)))),
    Pair("einsum bi,oij,bj->bo", 10, einsum("bi,oij,bj->bo"),
         lambda x, w, y: ((x @ w).transpose(0, 1) @ y.unsqueeze(-1)).squeeze(-1),
         inputs((5, 7), (11, 7, 7), (5, 7)),
         twins(transposed=lambda x, w, y: ((y @ w).transpose(0, 1) @ x.unsqueeze(-1)).squeeze(-1))),
    Pair("einsum bkgtd,bksd->bkgts", 10, einsum("bkgtd,bksd->bkgts"),
         lambda q, k: (q.flatten(2, 3) @ k.transpose(-1, -2)).view(2, 3, 4, 5, 7),
         inputs((2, 3, 4, 5, 11), (2, 3, 7, 11)),
         twins(groups_and_time_swapped=lambda q, k: (
             q.transpose(2, 3).flatten(2, 3) @ k.transpose(-1, -2)).view(2, 3, 4, 5, 7))),
]

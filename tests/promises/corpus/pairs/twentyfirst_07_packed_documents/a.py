"""Position ids and attention mask of packed documents that an EOS ends; positions begin anew after it."""
import torch

EOS = 2


def prepare(input_ids):
    b, t = input_ids.shape
    arange = torch.arange(t, device=input_ids.device).expand(b, t)
    starts = torch.zeros_like(input_ids, dtype=torch.bool)
    starts[:, 0] = True
    starts[:, 1:] = input_ids[:, :-1] == EOS
    doc_start = torch.where(starts, arange, torch.zeros_like(arange)).cummax(dim=1).values
    position_ids = arange - doc_start
    segment_ids = starts.long().cumsum(dim=1)
    same = segment_ids.unsqueeze(2) == segment_ids.unsqueeze(1)
    causal = torch.ones(t, t, dtype=torch.bool, device=input_ids.device).tril()
    mask = (same & causal).unsqueeze(1)
    labels = torch.full_like(input_ids, -100)
    labels[:, :-1] = input_ids[:, 1:]
    labels = labels.masked_fill(input_ids == EOS, -100)
    return {"position_ids": position_ids, "segment_ids": segment_ids, "mask": mask, "labels": labels}


def inputs():
    return (torch.tensor([[5, 3, 2, 4, 4, 2, 6], [3, 2, 2, 7, 0, 1, 5]]),)

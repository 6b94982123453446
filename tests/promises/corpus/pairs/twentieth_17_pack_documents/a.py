"""Packed documents: position ids, labels and attention mask from rows of tokens with end-of-text in between."""
import torch

EOT, IGNORE = 0, -100


def by_scans(ids):
    """ids [B, T]; a document ends with EOT."""
    batch, length = ids.shape
    ends = ids == EOT
    starts = torch.cat((torch.ones(batch, 1, dtype=torch.bool), ends[:, :-1]), dim=1)
    place = torch.arange(length).expand(batch, length)
    begin = torch.where(starts, place, 0).cummax(dim=1).values
    positions = place - begin
    document = starts.long().cumsum(1) - 1
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    mask = (document[:, :, None] == document[:, None, :]) & causal
    labels = torch.roll(ids, -1, dims=1)
    labels[:, -1] = IGNORE
    labels = labels.masked_fill(ends, IGNORE)
    bias = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)
    return {"positions": positions, "labels": labels, "bias": bias[:, None], "document": document}


def inputs():
    ids = torch.randint(1, 8, (3, 7))
    ids[0, 2], ids[0, 6], ids[1, 0], ids[2, 3], ids[2, 4] = 0, 0, 0, 0, 0
    return (ids,)

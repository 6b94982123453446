import torch

from left import LanguageModel, causal_loss


class Right:
    accumulate = 2

    def __init__(self):
        torch.manual_seed(0)
        self.model = LanguageModel()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def __call__(self, ids, labels):
        self.optimizer.zero_grad()
        total = 0
        for i, l in zip(ids.chunk(self.accumulate), labels.chunk(self.accumulate)):
            loss = causal_loss(self.model(i), l) / self.accumulate
            loss.backward()
            total = total + loss.detach()
        self.optimizer.step()
        return total


def inputs():
    ids = torch.tensor([[1, 4, 2, 9, 3, 7], [5, 6, 10, 2, 0, 0], [8, 3, 0, 0, 0, 0], [2, 7, 1, 0, 0, 0]])
    return ids, torch.where(ids == 0, -100, ids)

import torch


def penalise(input_ids, scores, penalty=1.3):
    score = torch.gather(scores, 1, input_ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return scores.scatter(1, input_ids, score)


def inputs():
    return torch.tensor([[3, 1, 3, 7, 0], [2, 2, 8, 5, 10]]), torch.randn(2, 11)

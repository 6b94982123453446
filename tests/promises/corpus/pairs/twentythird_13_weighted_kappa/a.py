"""Agreement of two graders: Cohen's kappa with quadratic weights from the confusion matrix, as scikit-learn has it."""
import torch
from torch.nn import functional as F

GRADES = 5


def confusion_matrix(predicted, actual):
    rows = F.one_hot(actual, GRADES).float()
    columns = F.one_hot(predicted, GRADES).float()
    return rows.T @ columns


def agreement(predicted, actual):
    n = predicted.shape[0]
    confusion = confusion_matrix(predicted, actual)
    expected = torch.outer(confusion.sum(1), confusion.sum(0)) / n
    grade = torch.arange(GRADES).float()
    distance = (grade[:, None] - grade[None, :]).abs()
    weights = distance**2 / (GRADES - 1) ** 2
    kappa = 1 - (weights * confusion).sum() / (weights * expected).sum()
    accuracy = confusion.diagonal().sum() / n
    within_one = confusion.triu(-1).tril(1).sum() / n
    return {"kappa": kappa, "accuracy": accuracy, "within one": within_one}


def inputs():
    return torch.randint(0, GRADES, (12,)), torch.randint(0, GRADES, (12,))

"""Notebook 6: masked policies and the policy gradient, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azumaya.baselines.course.verdict import checked, require, returned
from azumaya.envs.errors import brief
from azumaya.envs.extras import require as require_package

ROWS, ACTIONS = 6, 9
Tensor = Any  # torch is imported where it is used


def _torch() -> Any:
    return require_package("torch", "course")


def masked_log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """The course's answer: log-probabilities of the actions, with none for illegal ones.

    Args:
        logits: `(n, A)`.
        mask: `(n, A)`, 1 or True for legal actions, of which each row has at least one.
    """
    torch = _torch()
    lowest = torch.finfo(logits.dtype).min
    return torch.log_softmax(logits.masked_fill(~mask.bool(), lowest), dim=-1)


def _batch() -> tuple[Tensor, Tensor]:
    """Logits and a mask; the first action is legal in every row."""
    torch = _torch()
    generator = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(ROWS, ACTIONS, generator=generator)
    mask = (torch.rand(ROWS, ACTIONS, generator=generator) < 0.5).to(torch.int8)
    mask[:, 0] = 1
    return logits, mask


@checked(masked_log_probs)
def check_masked_log_probs(answer: Callable[[Tensor, Tensor], Tensor]) -> str:
    """Check `answer(logits, mask)`: the values, the gradient and the entropy."""
    torch = _torch()
    logits, mask = _batch()
    legal = mask.bool()
    for shift in (0.0, -50.0):  # below 0, an illegal logit of 0 would be the best
        given = returned(answer, (logits + shift).clone(), mask.clone())
        right = masked_log_probs(logits + shift, mask)
        _check_probabilities(_tensor(given, right), logits + shift, mask)
    leaf = logits.clone().requires_grad_()
    # a copy, as PyTorch refuses changes in place of a leaf; the logits of a network are none
    log_probs = _tensor(returned(answer, leaf.clone(), mask.clone()), logits)
    _backward(-(log_probs.exp() * log_probs).sum(), leaf, "logits")
    require(
        torch.isfinite(leaf.grad).all(),
        "the gradient of the entropy is not a number: 0 * log 0. Fill illegal logits with a large "
        "negative number, such as torch.finfo(logits.dtype).min, and not with minus infinity, and "
        "let torch.log_softmax take the logarithm: that of a probability of 0 is infinite.",
    )
    require(
        not leaf.grad[~legal].any(),
        "the logits of illegal actions have a gradient; it should be 0: nothing depends on them.",
    )
    return "illegal actions have probability 0 and no gradient, and the entropy is finite."


def _tensor(given: Any, like: Tensor) -> Tensor:
    """What an answer returned, if it is a tensor of floats with the shape of another."""
    torch = _torch()
    seen = f"a tensor of {given.dtype}" if isinstance(given, torch.Tensor) else brief(given)
    require(
        isinstance(given, torch.Tensor) and given.is_floating_point(),
        f"the answer is {seen}; it should be a tensor of floats.",
    )
    require(
        given.shape == like.shape,
        f"the tensor has the shape {tuple(given.shape)}; it should be {tuple(like.shape)}"
        f"{'' if like.ndim else ', that of one number'}.",
    )
    return given.to(like.dtype)


def _backward(result: Tensor, leaf: Tensor, what: str) -> None:
    """Compute the gradient of a number for the logits, which reach an answer as `what`."""
    if result.requires_grad:
        result.backward()
    require(
        leaf.grad is not None,
        f"the result does not depend on the {what} given: no gradient reaches them.",
    )


def _check_probabilities(given: Tensor, logits: Tensor, mask: Tensor) -> None:
    """Compare log-probabilities with the right ones; hints are for the mistakes that give them."""
    torch = _torch()
    legal, right = mask.bool(), masked_log_probs(logits, mask)
    require(
        not torch.allclose(given, right.exp(), atol=1e-4),
        "these are the probabilities; their logarithms are asked for.",
    )
    illegal = float(given.exp()[~legal].max())
    require(
        illegal < 1e-6,
        f"an illegal action has the probability {illegal:.3g}; it should be 0."
        f"{_illegal_hint(given, logits, mask)}",
    )
    total = float(given.exp().sum(dim=-1)[0])
    require(
        abs(total - 1) < 1e-4,
        f"the probabilities of a row add up to {total:.3f}; they should add up to 1."
        f"{_total_hint(given, logits, legal)}",
    )
    require(
        torch.allclose(given[legal], right[legal], atol=1e-4),
        "the log-probabilities of legal actions differ from those of a softmax over the legal "
        "logits alone.",
    )


def _illegal_hint(given: Tensor, logits: Tensor, mask: Tensor) -> str:
    torch = _torch()
    if torch.allclose(given, torch.log_softmax(logits * mask, dim=-1), atol=1e-4):
        return " A logit of 0 is not a probability of 0."
    if torch.allclose(given, torch.log_softmax(logits, dim=-1), atol=1e-4):
        return " The mask has no effect: this is the softmax over all logits."
    if given.exp()[mask.bool()].max() < 1e-6:
        return " Legal actions have none: the mask is 1 where an action is legal."
    return ""


def _total_hint(given: Tensor, logits: Tensor, legal: Tensor) -> str:
    torch = _torch()
    if torch.allclose(given[legal], torch.log_softmax(logits, dim=-1)[legal], atol=1e-4):
        return (
            " The mask must act before the softmax, so that what illegal actions lose goes to the "
            "legal ones."
        )
    if torch.allclose(given.exp().sum(dim=0), torch.ones(ACTIONS), atol=1e-4):
        return " Those of a column do: the softmax must be over the actions, dim=-1."
    return ""


def policy_loss(log_probs: Tensor, actions: Tensor, gains: Tensor, values: Tensor) -> Tensor:
    """The course's answer: the loss whose gradient is that of REINFORCE with a baseline.

    Args:
        log_probs: of all actions, `(n, A)`.
        actions: those taken, `(n,)`.
        gains: what the player who moved gained in the end, `(n,)`.
        values: the baseline, `(n,)`; it may depend on parameters, but the loss must not train them.
    """
    taken = log_probs.gather(1, actions[:, None])[:, 0]
    return -((gains - values.detach()) * taken).mean()


def _crossed_loss(log_probs: Tensor, actions: Tensor, gains: Tensor, values: Tensor) -> Tensor:
    """A typical mistake: the log-probabilities stay a column, `(n, 1)`."""
    return -((gains - values.detach()) * log_probs.gather(1, actions[:, None])).mean()


@checked(policy_loss)
def check_policy_loss(answer: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> str:
    """Check `answer(log_probs, actions, gains, values)` by its gradients."""
    torch = _torch()
    logits, mask = _batch()
    actions = ACTIONS - 1 - mask.flip(1).long().argmax(dim=1)  # the last legal one of each row
    gains = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, 0.0])
    given, right, crossed = (torch.zeros(2, ROWS, ACTIONS) for _ in range(3))
    answers = [(given, answer), (right, policy_loss), (crossed, _crossed_loss)]
    for gradients, function in answers:
        leaf = logits.clone().requires_grad_()
        values = torch.linspace(-0.5, 0.5, ROWS).requires_grad_()
        loss = returned(function, masked_log_probs(leaf, mask), actions, gains, values)
        _backward(_tensor(loss, torch.tensor(0.0)), leaf, "log-probabilities")
        gradients[0] = leaf.grad
        if values.grad is not None:
            gradients[1] = values.grad.abs().sum()
    require(
        not torch.allclose(given[0], -right[0], atol=1e-6),
        "the sign is wrong: optimisers make a loss smaller, so the loss is minus what you want.",
    )
    require(
        not given[1].any(),
        "the loss also changes the values. As a baseline they are constants: values.detach().",
    )
    ratio, hint = given[0].norm() / right[0].norm(), ""
    if torch.allclose(given[0], crossed[0], atol=1e-6):
        hint = " Every gain is multiplied by every log-probability: (n,) times (n, 1) is (n, n)."
    require(
        torch.allclose(given[0], right[0], atol=1e-6),
        "the gradient for the logits differs from that of the mean of (gain - value) * "
        f"log-probability of the action taken (its norm is {ratio:.2f} times as large).{hint}",
    )
    return "the gradient is right, and the baseline stays as it is."

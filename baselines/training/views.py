"""Positions as seen through symmetries of their game, on the device of a network."""

from __future__ import annotations

from typing import NamedTuple

import torch

from azumaya.envs import Position
from azumaya.envs.geometry.symmetry import Symmetry
from azumaya.envs.symmetries import Axis
from azumaya.wrappers.draws import random_transform
from azumaya.wrappers.transform import Transform

VIEWS = 64
"""Random symmetries that are drawn for a run."""


class View(NamedTuple):
    """A symmetry.

    Attributes:
        seen_from: for each entry of a flattened observation the one that it comes from,
            `(C * rows * columns,)` int64.
        action_from: for each action the one that it comes from, `(A,)` int64.
        action_to: for each action the one that it becomes, `(A,)` int64.
    """

    seen_from: torch.Tensor
    action_from: torch.Tensor
    action_to: torch.Tensor

    def see(self, planes: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Planes `(B, C, rows, columns)` and legal actions `(B, A)` through the symmetry."""
        seen = planes.flatten(1).index_select(1, self.seen_from).view_as(planes)
        return seen, masks.index_select(1, self.action_from)


def transforms(start: Position) -> list[Transform]:
    """Random symmetries of games with the options of `start`.

    They are only such as are allowed in every stage of a game, and change nothing of an observation
    but the places of its entries: no numbers within planes, and no numbers of regions.
    """
    data, planes = start.game.symmetries, start.game.observation.planes
    numbered = any(plane.index is not None and plane.index[0] is Axis.REGION for plane in planes)
    regions = data.regions if numbered else ()
    coded = any(plane.value is Axis.NUMBER for plane in planes)

    def allowed(one: Symmetry) -> bool:
        stays = data.in_place is None or data.in_place.kept_by(one)
        return stays and not one.swaps and all(
            regions[cell] == region for cell, region in zip(one.cells, regions, strict=False)
        )  # fmt: skip

    group = [tuple(filter(allowed, factor)) for factor in data.group]
    some, rename = [factor for factor in group if factor], data.in_order is None and not coded
    return [
        random_transform(start.game, key, start, group=some, rename=rename) for key in range(VIEWS)
    ]


def views(start: Position, device: torch.device) -> list[View]:
    """The same as views."""
    return [
        View(*(
            torch.from_numpy(each).to(device)
            for each in (one.observation_index, one.action_index, one.action_table)
        ))
        for one in transforms(start)
    ]  # fmt: skip

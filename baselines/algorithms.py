"""The training scripts by name. They need the extra `train`, this list of them does not."""

from __future__ import annotations

ALGORITHMS = {
    "td_value": "ValueLearner",
    "expert_iteration": "ExpertLearner",
    "ppo_selfplay": "SelfPlayLearner",
    "maskable_ppo": "MaskableLearner",
}
"""The learner's class in each module of `azumaya.baselines.training` that is a script."""

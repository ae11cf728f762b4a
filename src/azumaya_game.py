"""Games against an agent as an environment of verifiers, by the id `azumaya-game`."""

from azumaya.baselines.text.verifiers import ChatHarness, GameEnv, GameTaskset, load_environment

__all__ = ["ChatHarness", "GameEnv", "GameTaskset", "load_environment"]

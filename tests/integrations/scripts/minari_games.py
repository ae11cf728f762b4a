"""Minari: games as a dataset with an episode for each seat, written and read back."""

from __future__ import annotations

import json
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np

import azumaya.envs  # noqa: F401 - registers the games
from azumaya.baselines.arena import play_pairing
from azumaya.envs.notation import GameRecord, read_records, replay

GAME = "vierer_dominari"
NAME = f"azumaya/{GAME}/greedy-v0"
STARTS = 5


def seat_of(record: GameRecord, seat: int) -> dict[str, list]:
    """One seat of a game as an episode, as `SingleAgentEnv` shows it.

    Its steps are the moves of this seat. The opponent's moves in between belong to the environment,
    and a reward is what the seat gains until it is to move again. The last observation is that of
    the end, and its mask is empty.
    """
    positions = list(replay(record))
    turns = [place for place, p in enumerate(positions) if not p.is_over and p.to_move == seat]
    shown = [positions[place] for place in (*turns, -1)]
    gains = [after.returns()[seat] - before.returns()[seat] for before, after in pairwise(shown)]
    last = positions[-1]
    return {
        "observations": {
            "observation": [p.observation(seat) for p in shown],
            "action_mask": [p.action_mask() for p in shown],
        },
        "actions": [positions[place].action(record.moves[place]) for place in turns],
        "rewards": [float(gain) for gain in gains],
        "terminations": [last.is_terminated and p is last for p in shown[1:]],
        "truncations": [last.is_truncated and p is last for p in shown[1:]],
    }


def write_dataset(records: list[GameRecord]) -> None:
    """Write both seats of all games as a dataset of Minari; the seats are named in its metadata."""
    import minari  # noqa: PLC0415 - which asks at import where its datasets are
    from minari.data_collector import EpisodeBuffer  # noqa: PLC0415

    env = gymnasium.make(f"azumaya/{GAME}-v0", action_mask="observation")
    seats = [(record, seat) for record in records for seat in (0, 1) if record.moves]
    episodes = [
        EpisodeBuffer(id=number, **arrays(seat_of(record, seat)))
        for number, (record, seat) in enumerate(seats)
    ]
    dataset = minari.create_dataset_from_buffers(
        NAME, episodes, env, algorithm_name="greedy against uct:100", description=__doc__
    )
    about = [
        {"seat": seat, "player": record.players[seat], "opponent": record.players[1 - seat]}
        for record, seat in seats
    ]
    dataset.storage.update_episode_metadata(about)


def arrays(episode: dict[str, list]) -> dict[str, object]:
    """The lists of an episode as arrays."""
    return {
        name: {key: np.stack(each) for key, each in value.items()}
        if isinstance(value, dict)
        else np.array(value)
        for name, value in episode.items()
    }


def main() -> None:
    """Write games, read them back, and check that both seats add up."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MINARI_DATASETS_PATH"] = folder
        file = Path(folder) / "games.jsonl"
        play_pairing(GAME, "greedy", "uct:100", starts=STARTS, seed=1, record=file)
        records = list(read_records(file))
        write_dataset(records)

        import minari  # noqa: PLC0415

        dataset = minari.load_dataset(NAME)
        assert isinstance(dataset.action_space, gymnasium.spaces.Discrete)
        episodes = list(dataset.iterate_episodes())
        assert len(episodes) == 2 * len(records) == 4 * STARTS
        for one, other, record in zip(episodes[::2], episodes[1::2], records, strict=True):
            assert [one.rewards.sum(), other.rewards.sum()] == list(record.returns)
            assert len(one) + len(other) == len(record.moves)
            for seat in (one, other):
                masks = seat.observations["action_mask"][:-1]
                assert masks[np.arange(len(seat)), seat.actions].all()
                assert seat.terminations[-1] or seat.truncations[-1]
        steps = int(dataset.total_steps)
    print(json.dumps({"game": GAME, "episodes": len(episodes), "steps": steps}))


if __name__ == "__main__":
    main()

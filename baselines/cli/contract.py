"""What holds for every game, checked at every ply of random games: `azumaya check-game`.

Each check is a law, which its docstring states. The library's own tests run the same checks over
all of its games.
"""

from __future__ import annotations

import copy
import operator
import pickle
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.duel.opponents import GreedyOpponent
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.envs.setup import prepare

FORBIDDEN_SAMPLE, EXPLAINED_SAMPLE = 6, 4
"""How many illegal and legal actions `explain` is asked for at a ply."""
BATCH_SEEDS, BATCH_ENDS = (5, 0, 2**64 - 1), 6
"""The seeds of the games of a batch that are compared, and how many games must end until then."""
DRAWN_EVERY = 9
"""Plies from one picture that is drawn to the next."""
MOST_PLIES = 10_000
"""Longer games are broken off: a game without a bound of its own may never end."""


Options = Mapping[str, Any]


class ContractError(AssertionError):
    """A game breaks a law; the message says how."""


def expect(holds: Any, why: str) -> None:
    """Raise `ContractError` unless something holds."""
    if not holds:
        raise ContractError(why)


def legal_of(env: RawEnv) -> np.ndarray:
    """The legal actions of the agent to act."""
    return np.flatnonzero(env.infos[env.agent_selection]["action_mask"])


def is_over(env: RawEnv) -> bool:
    """Whether the game in an environment has ended."""
    agent = env.agent_selection
    return env.terminations[agent] or env.truncations[agent]


def play_out(env: RawEnv, rng: random.Random, plies: int | None = None) -> list[int]:
    """Play random moves to the end, or at most `plies` of them; returns the actions."""
    actions: list[int] = []
    while not is_over(env) and len(actions) != plies:
        action = int(rng.choice(legal_of(env)))
        env.step(action)
        actions.append(action)
    return actions


def different(state: np.ndarray, wanted: np.ndarray) -> str:
    """The first field in which a state is not as wanted, in words; "" if there is none."""
    if state.tobytes() == wanted.tobytes():
        return ""
    names = state.dtype.names or ()
    name = next(name for name in names if state[name].tobytes() != wanted[name].tobytes())
    return f"{name!r} is {state[name].tolist()}, not {wanted[name].tolist()}"


# ---- at every ply ----


def check_state(env: RawEnv, rng: random.Random) -> None:
    """What `check_state` asserts holds in every state."""
    env.game.words.check_state(env.position.state[0])


def check_masks(env: RawEnv, rng: random.Random) -> None:
    """Whoever is to move has legal actions, and nobody once the game is over."""
    position, over = env.position, is_over(env)
    mover = env.agent_selection
    expect(mover == AGENTS[position.to_move], "the agent to act is not the player to move")
    ended = position.is_terminated + position.is_truncated
    expect(over == position.is_over == ended, "the flags of the end do not agree")
    for agent in AGENTS:
        mask = env.observe(agent)["action_mask"]
        fits = mask.dtype == np.int8 and mask.shape == (position.num_actions,)
        expect(fits and set(np.unique(mask)) <= {0, 1}, "a mask is not (num_actions,) int8 of 0, 1")
        expect((env.infos[agent]["action_mask"] == mask).all(), "masks differ in infos")
        some = "has" if mask.any() else "has no"
        expect(mask.any() == (agent == mover and not over), f"{agent} {some} legal actions")
        flags = env.terminations[agent], env.truncations[agent]
        ends = position.is_terminated, position.is_truncated
        expect(all(map(operator.is_, flags, ends)), f"terminated, truncated: {flags}, not {ends}")
    here = env.observe(mover)["action_mask"] == position.action_mask()
    expect(here.all(), "the masks of environment and position differ")


def check_names(env: RawEnv, rng: random.Random) -> None:
    """Every legal action has a name of its own, which is read as this action."""
    position = env.position
    actions = [] if is_over(env) else legal_of(env).tolist()
    names = position.legal_moves()
    expect(position.legal_actions() == actions, "position and environment differ")
    for action, name in zip(actions, names, strict=True):
        expect(env.move_name(action) == name, f"action {action} has two names")
        read = env.parse_move(name)
        expect(read == action, f"action {action} is named {name!r}, which is read as {read}")


def check_explain(env: RawEnv, rng: random.Random) -> None:
    """The mask allows what `explain` calls legal, and nothing else."""
    position = env.position
    legal = position.legal_actions()
    forbidden = sorted(set(range(position.num_actions)) - set(legal))
    chosen = rng.sample(legal, min(EXPLAINED_SAMPLE, len(legal)))
    chosen += rng.sample(forbidden, min(FORBIDDEN_SAMPLE, len(forbidden)))
    for action in chosen:
        name, sentence = position.move_name(action), position.explain(action)
        expect(sentence == position.explain(name), f"{name!r} is explained in two ways")
        expect(sentence.startswith(name), f"{sentence!r} does not begin with {name!r}")
        allowed = "allows" if action in legal else "forbids"
        agree = ("is legal" in sentence) == (action in legal)
        expect(agree, f"the mask {allowed} action {action}, but explain says {sentence!r}")


def check_observations(env: RawEnv, rng: random.Random) -> None:
    """Observations lie in their spaces; planes of numbers are uniform."""
    observed = env.game.observation
    for player, agent in enumerate(AGENTS):
        seen = env.observe(agent)
        for plane, values in zip(observed.planes, seen["observation"], strict=True):
            most = int(values.max())
            expect(most <= plane.high, f"plane {plane.name!r} has {most}, above {plane.high}")
        expect(env.observation_space(agent).contains(seen), "an observation is not in its space")
        expect((seen["observation"] == env.position.observation(player)).all(), "planes differ")
        numbers = seen["observation"][observed.cell_planes :]
        expect((numbers == numbers[:, :1, :1]).all(), "a plane of a number is not uniform")
    expect(env.state_space.contains(env.state()), "state() is not in its space")
    last: Any = env.last()
    here = env.observe(env.agent_selection)
    same = (last[0]["observation"] == here["observation"]).all()
    same = same and (last[0]["action_mask"] == last[4]["action_mask"]).all()
    expect(same and is_over(env) == (last[2] or last[3]), "last() does not agree with the rest")


def check_text(env: RawEnv, rng: random.Random) -> None:
    """A position's text is read as this position, with all that is visible."""
    position, game, setup = env.position, env.game, env.setup
    text = str(position)
    again = Position.of_states(game, setup, game.words.read_text(text, setup.settings))
    expect(text == " ".join(text.split()), "the text has more than single spaces")
    expect(str(again) == text, f"it is read as {str(again)!r}")
    expect(again.legal_actions() == position.legal_actions(), "other actions are legal")
    for player in (0, 1):
        same = (again.observation(player) == position.observation(player)).all()
        expect(same, f"player_{player} sees other planes in the position that is read")
    expect(again.returns() == position.returns(), "the result is another")
    expect(again.to_move == position.to_move, "another player is to move")
    if game.rules.resample is None:
        wrong = different(again.state, position.state)
        expect(not wrong, f"it is read as another state: {wrong}")
        expect(again == position, "the positions are not equal")
    else:
        other = position.resample_hidden(1)
        expect(str(other) == text, "the text shows what is hidden")
        expect((other.observation(0) == position.observation(0)).all(), "a plane shows it")


def check_copy(env: RawEnv, rng: random.Random) -> None:
    """Copies and pickles are equal and independent; every move changes them."""
    position, before = env.position, env.position.state.tobytes()
    for twin in (position.copy(), pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        expect(twin == position and str(twin) == str(position), "a copy differs")
        if not twin.is_over:
            move = twin.legal_moves()[-1]
            expect(twin.play(move) != position, f"the legal move {move} changes nothing")
        expect(position.state.tobytes() == before, "a move on a copy changes the original")


def check_greedy(env: RawEnv, rng: random.Random) -> None:
    """`evaluate` gives the same whole number each time: the greedy player finds a legal move."""
    position = env.position
    if not position.is_over:
        evaluate, state = env.game.rules.evaluate, position.state[0]
        first, again = (evaluate(state, position.to_move) for _ in range(2))
        expect(first == again == int(first), f"evaluate gives {first}, then {again}")
        (action,) = GreedyOpponent().act([position], [rng.randrange(2**64)])
        expect(action in position.legal_actions(), f"greedy plays the illegal action {action}")


PLY_CHECKS = (
    check_masks, check_state, check_names, check_explain, check_observations, check_text,
    check_copy, check_greedy,
)  # fmt: skip


@contextmanager
def saying_where(show: Callable[[], str]) -> Iterator[None]:
    """Add to errors where the game was."""
    try:
        yield
    except Exception as error:  # whatever the game's own functions raise
        with suppress(Exception):
            error.add_note(show())
        raise


def play_checked(
    game: Game,
    options: Options,
    rng: random.Random,
    checks: Sequence[Callable[..., None]] = PLY_CHECKS,
    failed: Callable[[Callable[..., None], Exception], Any] | None = None,
) -> None:
    """Rewards are zero-sum and add up; games end within their bounds."""
    env, seed = RawEnv(game, **options), rng.randrange(2**32)
    env.reset(seed=seed)
    sums, plies, settings = np.zeros(2), 0, env.setup.settings
    bound, most = plies_of(game, options), game.options.payoff_bound(settings)

    def shown() -> str:
        return f"seed {seed}, ply {plies}: {env.position}"

    while True:
        for check in checks:
            try:
                with saying_where(shown):
                    check(env, rng)
            except Exception as error:
                if failed is None:
                    raise
                failed(check, error)
        with saying_where(shown):
            expect([*env.position.returns()] == sums.tolist(), f"rewards add up to {sums.tolist()}")
            expect(abs(sums[0]) <= most, f"player_0 has {sums[0]:g}, payoff_bound is {most}")
            expect(plies or not is_over(env), "the game is over when it begins")
            if is_over(env):
                return
            expect(plies < bound, f"no end after {plies} plies, {_why(bound)}")
            legal = legal_of(env)
            expect(len(legal), "nothing is legal, but the game is not over")
            env.step(int(rng.choice(legal)))
            gains = np.array([env.rewards[agent] for agent in AGENTS])
            expect(gains.sum() == 0, f"the rewards are {gains.tolist()}")
        plies, sums = plies + 1, sums + gains


def plies_of(game: Game, options: Options) -> int:
    """The plies after which games are over, unless the game breaks its own bound."""
    return min(game.options.max_steps(prepare(game, options).settings), MOST_PLIES)


def _why(bound: int) -> str:
    return "which max_steps says" if bound < MOST_PLIES else "so no more are played"


# ---- seeds and batches ----


def check_seeds(game: Game, options: Options, rng: random.Random) -> None:
    """Seed, options and actions determine every episode."""

    def series(seed: int) -> Iterator[tuple[str, bytes]]:
        env, moves = RawEnv(game, **options), random.Random(0)
        env.reset(seed=seed)
        start, bound = Position(game, seed=seed, **options), plies_of(game, options)
        expect(env.position == start, f"seed {seed}: the starts differ")
        for _ in range(3):
            play_out(env, moves, bound)
            yield str(env.position), env.position.state.tobytes()
            env.reset()

    seed = rng.randrange(2**64)
    expect([*series(seed)] == [*series(seed)], f"seed {seed}: the same actions end differently")


def check_row(row: int, env: RawEnv, observations: Any, infos: Any) -> None:
    """A row of a batch shows what the environment shows to the agent to act."""
    agent = env.agent_selection
    seen = env.observe(agent)
    expect(infos["to_move"][row] == env.possible_agents.index(agent), "another player is to move")
    for name in ("observation", "action_mask"):
        expect(np.array_equal(observations[name][row], seen[name]), f"another {name}")
    expect(np.array_equal(infos["action_mask"][row], seen["action_mask"]), "another mask in infos")


def check_step(row: int, env: RawEnv, mover: str, results: Any) -> None:
    """Rewards, terminations and truncations of a step are those of the environment."""
    _, rewards, terminated, truncated, infos = results
    both = [env.rewards[agent] for agent in env.possible_agents]
    expect(rewards[row] == env.rewards[mover], "another reward")
    expect(infos["rewards"][row].tolist() == both, "other rewards in infos")
    expect(terminated[row] == env.terminations[mover], "another termination")
    expect(truncated[row] == env.truncations[mover], "another truncation")


def check_batch(game: Game, options: Options, rng: random.Random, plies: int = 400) -> None:
    """Each game of a batch is, step by step, that of an environment."""
    games = AzumayaVectorEnv(game, len(BATCH_SEEDS), threads=1, **options)
    envs, ends = [RawEnv(game, **options) for _ in BATCH_SEEDS], 0
    observations, infos = games.reset(seed=[*BATCH_SEEDS])
    for row, env in enumerate(envs):
        env.reset(seed=BATCH_SEEDS[row])
        check_row(row, env, observations, infos)
    for _ in range(plies + 1):  # so that the last end is followed by a reset
        if ends >= BATCH_ENDS:
            break
        actions = np.array([-1 if is_over(e) else rng.choice(legal_of(e)) for e in envs])
        observations, rewards, terminated, truncated, infos = results = games.step(actions)
        for row, env in enumerate(envs):
            if is_over(env):
                env.reset()
                ends += 1
                nothing = (rewards[row], terminated[row], truncated[row]) == (0, False, False)
                expect(nothing and not infos["rewards"][row].any(), "a reset gives a reward")
            else:
                mover = env.agent_selection
                env.step(int(actions[row]))
                check_step(row, env, mover, results)
            check_row(row, env, observations, infos)
    expect(ends or plies < 400, "no game has ended")


# ---- pictures ----


def check_pictures(game: Game, options: Options, rng: random.Random) -> None:
    """Positions can be drawn, as text and as a picture; actions name cells of the board."""
    position = Position(game, seed=rng.randrange(2**32), **options)
    cells, last, plies = game.observation.cells, None, 0
    with saying_where(lambda: str(position)):
        for action in range(position.num_actions):
            named = game.words.action_cells(action, position.setup.settings)
            if not all(0 <= cell < cells for cell in named):
                move = position.move_name(action)
                raise ContractError(f"action_cells of {move}: {named}, of {cells} cells")
        while True:
            if position.is_over or not plies % DRAWN_EVERY:
                position.draw(last_action=last)
                position.svg(last_action=last, candidates=True)
            if position.is_over or plies == plies_of(game, options):
                return
            last = rng.choice(position.legal_actions())
            position.play(last)
            plies += 1

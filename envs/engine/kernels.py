"""Kernels that step batches of games, built for each game from the kernels in its record.

Each takes a slice `start, stop` of the rows, arrays and scratch space, but no Python objects, so
that threads can process slices of a batch in parallel. Kernels with no other result return the
number of rows, but for `begin`. They do not validate their arguments.

Output form and loop sizes are constants of the factory. Passing them as arguments made a step 1.6
times as slow, because LLVM then neither unrolls loops nor schedules across branches. Each game is
handled in a single pass, so its state is read from memory once. Two things did not help: telling
LLVM that arrays do not overlap (numba's `noalias`), and its SLP vectoriser
(`NUMBA_SLP_VECTORIZE`), whose wide loads wait for the preceding narrow stores.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.adapters.lookahead import choose_random
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game
from azumaya.envs.kernels.bits import LOW6, ONE, U64, ZERO, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import draw_start, drawn, make_key
from azumaya.envs.kernels.spread import SPREAD_BYTES, fetch, fill, row_of, spread_row_kernel

EPISODE = np.dtype(
    [
        ("seed", U64),
        ("number", np.int64),  # of the environment
        ("episode", np.int64),
        ("key", U64),  # of the episode, derived from the three above at its start
        ("ply", np.int64),  # moves chosen by compiled players in this episode
        ("lost", np.int64),  # 1 if an illegal action lost this episode: the state does not know
    ]
)
"""The source of one game's randomness, and how its episode stands."""
SERIES = np.dtype([*EPISODE.descr, ("setup", np.int64), ("lasting", np.int64)])
"""The same with the numbers of two setups, see `setups`: of this episode, and of those after it."""

PLANES, PACKED, NONE = 0, 1, 2
"""Observation formats: bytes, packed words, or none."""
FETCHED = 5
"""How many games ahead states and output rows are prefetched."""
_BYTE, _EIGHT = U64(255), U64(8)


@kernel
def first_illegal(start, stop, legal, actions, num_actions, over):
    """The first row with an illegal action, or -1; `legal` is `(n, W)` words.

    Any action is accepted for games that are `over`.
    """
    for i in range(start, stop):
        if over[i]:
            continue
        action = actions[i]
        if action < 0 or action >= num_actions:
            return i
        if (legal[i, action >> 6] >> (U64(action) & LOW6)) & ONE == ZERO:
            return i
    return -1


@functools.cache
def wipe_kernel(size: int) -> Any:
    """The kernel `wipe(words)`, which clears `size` words; a fixed size avoids a function call."""

    @kernel
    def wipe(words):
        for w in range(size):
            words[w] = ZERO

    return wipe


@functools.cache
def choose_kernel(words: int) -> Any:
    """The kernel that chooses a random legal action for every game, or 0 if it is over."""

    @kernel
    def choose(start, stop, legal, over, series, actions):
        for i in range(start, stop):
            actions[i] = 0
            if not over[i]:
                actions[i] = choose_random(row_of(legal, i), words, series[i].key, series[i].ply)
            series[i].ply += 1
        return stop - start

    return choose


@functools.cache
def renew_kernel(game: Game) -> Any:
    """The kernel `renew(states, place, series, i, starts, setup)`: begin a series' next episode.

    It begins in `states[place]`, with the setup of this number, whose starts are given.
    """
    reset = game.rules.reset

    @kernel
    def renew(states, place, series, i, starts, setup):
        series[i].episode += 1
        series[i].key = make_key(series[i].seed, series[i].number, series[i].episode)
        series[i].ply = series[i].lost = 0
        series[i].setup = setup
        reset(states, place, starts, series[i].key)

    return renew


@functools.cache
def restart_kernel(game: Game) -> Any:
    """The kernel `restart(states, place, series, i, starts, spans)`.

    It begins the next episode as `renew` does, with the series' lasting setup. The starts of setup
    `k` are `starts[spans[k, 0] : spans[k, 1]]`.
    """
    renew = renew_kernel(game)

    @kernel
    def restart(states, place, series, i, starts, spans):
        setup = series[i].lasting
        renew(states, place, series, i, starts[spans[setup, 0] : spans[setup, 1]], setup)

    return restart


@kernel
def report(i, end, mover, gain, rewards, both, terminated, truncated):
    """Write what a step gave in game `i`: how it ended, if it did, and what player_0 gained."""
    terminated[i] = end == TERMINATED
    truncated[i] = end == TRUNCATED
    both[i, 0] = gain
    both[i, 1] = -gain
    rewards[i] = gain if mover == 0 else -gain


@kernel
def forfeit(states, place, series, i):
    """Let the player to move lose game `i`, whose state is `states[place]`; returns the gain.

    The state says so for the rest of a step, so that outputs show the end. After it the state is as
    before the illegal action, and only the series knows.
    """
    states[place].over, series[i].lost = TERMINATED, 1
    return 2 * states[place].to_move - 1


@functools.cache
def show_kernel(game: Game, words: int, form: int) -> Any:
    """The kernel that writes a player's mask and observation of a state to output row `row`.

    In `show(state, player, row, seen, legal, masks, views)`, `seen` is scratch space for a packed
    observation and `legal` receives the packed mask. `masks` and `views` receive the mask and the
    observation: words if `form` is PACKED, otherwise bytes, at least 64 per row if there are
    several words. With NONE, `views` is not written.
    """
    write_legal, spread_row = game.rules.write_legal, spread_row_kernel(words)
    look, wipe_mask = _look_at(game, form), wipe_kernel(words)

    @kernel
    def show(state, player, row, seen, legal, masks, views):
        mask = row_of(legal, row)
        wipe_mask(mask)
        if player == state.to_move:
            write_legal(state, mask)
        if form == PACKED:
            for w in range(words):
                masks[row, w] = mask[w]
        else:
            spread_row(masks, row * masks.shape[1], masks.shape[1], mask)
        if form != NONE:
            look(state, player, row, seen, views)

    return show


def _look_at(game: Game, form: int) -> Any:
    """The kernel that writes the observation of a state to a row of `views`."""
    observe, cells, sets = game.rules.observe, game.observation.cells, game.observation.cell_planes
    numbers, wipe = len(game.observation.planes) - sets, wipe_kernel(game.observation.packed_words)
    set_bytes, set_words = sets * cells, word_count(sets * cells)
    spread_row = spread_row_kernel(set_words)

    @kernel
    def look(state, player, row, seen, views):
        view = row_of(views, row) if form == PACKED else seen
        wipe(view)
        observe(state, player, view)
        if form == PACKED:
            return
        base = row * views.shape[1]
        spread_row(views, base, set_bytes, view)
        word = ZERO
        for p in range(numbers):
            word = view[set_words + (p >> 3)] if p & 7 == 0 else word >> _EIGHT
            fill(views, base + (sets + p) * cells, cells, np.int64(word & _BYTE))

    return look


@functools.cache
def begin_kernel(game: Game) -> Any:
    """The kernel that begins the next episode, with one setup, in each of `rows[start:stop]`."""
    renew = renew_kernel(game)

    @kernel
    def begin(start, stop, rows, states, series, starts, setup):
        for r in range(start, stop):
            renew(states, rows[r], series, rows[r], starts, setup)

    return begin


@functools.cache
def fetch_row_kernel(size: int) -> Any:
    """The kernel `fetch_row(rows, row)`, which prefetches a row of `size` words."""

    @kernel
    def fetch_row(rows, row):
        for w in range(0, size, SPREAD_BYTES // 8):
            fetch(rows, row * size + w)

    return fetch_row


@functools.cache
def step_kernel(
    game: Game, words: int, form: int, same_step: bool, lose: bool = False, restarts: bool = True
) -> Any:
    """The kernel that plays an action in every game and writes the resulting outputs.

    With `lose`, an illegal action loses the game for the player who made it; otherwise all actions
    must be legal. The state stays as it was before that action, and the series says who lost.

    A finished game is restarted instead, or stays as it is if not `restarts`; its reward is zero.
    With `same_step`, it is restarted in the step that ends it: final states go to `finals` and
    their rows to `final_rows`, both from index `start`, and the kernel returns how many there are.
    """
    play, restart = game.rules.play, restart_kernel(game)
    show = show_kernel(game, words, form)
    fetch_mask, fetch_view = (
        fetch_row_kernel(words),
        fetch_row_kernel(game.observation.packed_words),
    )

    # Starts are no longer cached when needed, so each is prefetched one step before its restart.
    # In packed steps, prefetching states saved 5% of the time, and prefetching output rows 10%
    # for batches larger than the caches. Neither made a difference for planes.
    close = form == PACKED
    ahead = restarts and not same_step and game.rules.reset is draw_start

    @kernel
    def step(
        start, stop, states, series, starts, spans, actions, seen, legal, over, masks, views,
        rewards, both, terminated, truncated, to_move, finals, final_rows,
    ):  # fmt: skip
        ended = 0
        for i in range(start, stop):
            if close:
                fetch(states, i + FETCHED)
                fetch_mask(legal, i + FETCHED)
                fetch_mask(masks, i + FETCHED)
                fetch_view(views, i + FETCHED)
            # Few games are over, so few series are looked at. A lost game's state is over until the
            # end of this step, so that it shows the end.
            lost = lose and over[i] and series[i].lost != 0
            if lost:
                states[i].over = TERMINATED
            mover, gain = states[i].to_move, 0
            if states[i].over != RUNNING:
                if restarts:
                    restart(states, i, series, i, starts, spans)
                    lost = False
            elif lose and first_illegal(i, i + 1, legal, actions, 64 * words, over) >= 0:
                gain, lost = forfeit(states, i, series, i), True
            else:
                before = states[i].payoff
                play(states[i], actions[i])
                gain = states[i].payoff - before
            end = states[i].over
            if ahead and end != RUNNING:
                key = make_key(series[i].seed, series[i].number, series[i].episode + 1)
                setup = series[i].lasting
                own = starts[spans[setup, 0] : spans[setup, 1]]
                fetch(own, drawn(own, key))
            report(i, end, mover, gain, rewards, both, terminated, truncated)
            if same_step and end != RUNNING:
                finals[start + ended] = states[i]
                final_rows[start + ended] = i
                ended, lost = ended + 1, False
                restart(states, i, series, i, starts, spans)
            over[i] = states[i].over != RUNNING
            player = states[i].to_move
            to_move[i] = player
            show(states[i], player, i, seen, legal, masks, views)
            if lost:
                states[i].over = RUNNING
        return ended

    return step


@functools.cache
def move_kernel(game: Game) -> Any:
    """The kernel that plays `actions[r]` in game `rows[r]`."""
    play = game.rules.play

    @kernel
    def move(start, stop, rows, actions, states):
        for r in range(start, stop):
            play(states[rows[r]], actions[r])
        return stop - start

    return move


@functools.cache
def look_kernel(game: Game, words: int, form: int) -> Any:
    """The kernel that writes `players[r]`'s view of game `rows[r]` to output row `r`.

    Player -1 stands for the player to move.
    """
    show = show_kernel(game, words, form)

    @kernel
    def look(start, stop, rows, players, states, seen, legal, masks, views):
        for r in range(start, stop):
            i, player = rows[r], players[r]
            if player < 0:
                player = states[i].to_move
            show(states[i], player, r, seen, legal, masks, views)
        return stop - start

    return look


@functools.cache
def roll_kernel(game: Game, words: int) -> Any:
    """The kernel `roll(plies, states, place, series, i, starts, spans, choices)`.

    It plays `plies` uniformly random legal moves in game `i`, whose state is `states[place]`, and
    restarts it when it is over. It returns how often the game ended, not counting the end of a game
    that was already over. `choices` is scratch space for a packed mask.
    """
    play, write_legal, restart = game.rules.play, game.rules.write_legal, restart_kernel(game)
    wipe = wipe_kernel(words)

    @kernel
    def roll(plies, states, place, series, i, starts, spans, choices):
        ended = 0
        if series[i].lost and plies > 0:  # the first ply restarts it
            states[place].over = TERMINATED
        for _ in range(plies):
            wipe(choices)
            write_legal(states[place], choices)
            action = choose_random(choices, words, series[i].key, series[i].ply)
            series[i].ply += 1
            if action >= 0:  # there is none if the game was already over
                play(states[place], action)
            if states[place].over != RUNNING:
                if action >= 0:
                    ended += 1
                restart(states, place, series, i, starts, spans)
        return ended

    return roll


@functools.cache
def rollout_kernel(game: Game, words: int) -> Any:
    """The kernel that plays `plies` random moves in every game; it returns how many games ended.

    Interleaving sixteen games, so that none waits for its previous move, was no faster: branches
    are easier to predict within a single game.
    """
    roll = roll_kernel(game, words)

    @kernel
    def rollout(start, stop, plies, states, series, starts, spans, choices):
        ended = 0
        for i in range(start, stop):
            ended += roll(plies, states, i, series, i, starts, spans, choices)
        return ended

    return rollout

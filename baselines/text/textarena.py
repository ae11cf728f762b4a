"""The games as TextArena environments (needs the package `textarena`)."""

from __future__ import annotations

from typing import Any

from azumaya.baselines.text.answers import read_answer
from azumaya.baselines.text.prompts import position_prompt, rules_prompt
from azumaya.envs import GAMES, Position
from azumaya.envs.extras import require

ID = "Azumaya-{name}-v{version}"
"""The ids under which `register_textarena` registers the games."""


def textarena_env(
    game: str, *, error_allowance: int = 2, legal_moves: bool = False, **options: Any
) -> Any:
    """A game as a TextArena environment for two players.

    An illegal or unreadable answer is refused with the reason; after `error_allowance` refusals in
    a row the player loses, as in TextArena's own games. There, a turn of several steps counts as
    several turns of the same player.

    Args:
        game: the name of the game.
        error_allowance: refusals that a player may get for one move.
        legal_moves: whether the board messages list the legal moves.
        **options: the game's options.

    Raises:
        OptionError: the game or an option is wrong.
        MissingExtraError: `textarena` is not installed.
    """
    arena = require("textarena", "text")
    Position(game, **options)  # so that wrong options are refused here, not at the first reset

    class TextGameEnv(arena.Env):  # type: ignore[misc, name-defined]
        """One game of TextArena; `position` is its position and `moves` the moves so far."""

        def __init__(self) -> None:
            self.position = Position(game, **options)
            self.moves: list[str] = []

        def reset(self, num_players: int = 2, seed: int | None = None) -> None:
            """Begin a game; without a seed the start is that of seed 0."""
            self.position = Position(game, seed=seed or 0, **options)
            self.moves = []
            self.state = arena.TwoPlayerState(
                num_players=num_players, seed=seed, error_allowance=error_allowance
            )
            self.state.reset(
                game_state={"position": str(self.position)},
                player_prompt_function=lambda player_id, game_state: rules_prompt(self.position),
            )
            self.state.manually_set_current_player_id(self.position.to_move)
            self._show_board()

        def step(self, action: str) -> tuple[bool, dict[str, Any]]:
            """Read an answer and make its move; returns whether the game is over, and infos."""
            kinds, mover = arena.ObservationType, self.position.to_move
            self.state.add_observation(action, kinds.PLAYER_ACTION, from_id=mover)
            answer = read_answer(self.position, action)
            if answer.action is None:
                self.state.set_invalid_move(reason=answer.problem)
                return self.state.step(rotate_player=False)
            self.position.play(answer.action)
            self.moves.append(answer.name)
            self.state.game_state["position"] = str(self.position)
            told = f"player_{mover} plays {answer.name}."
            self.state.add_observation(told, kinds.GAME_ACTION_DESCRIPTION)
            if self.position.is_over:
                self._end()
                return self.state.step(rotate_player=False)
            done = self.state.step(rotate_player=False)
            self.state.manually_set_current_player_id(self.position.to_move)
            self._show_board()
            return done

        def _show_board(self) -> None:
            board = position_prompt(self.position, self.moves, legal_moves=legal_moves)
            self.state.add_observation(
                board, arena.ObservationType.GAME_BOARD, to_id=self.position.to_move
            )

        def _end(self) -> None:
            gain = self.position.returns()[0]
            if gain == 0:
                self.state.set_draw(reason="The game ended in a draw.")
            else:
                winner = int(gain < 0)
                self.state.set_winner(player_id=winner, reason=f"player_{winner} won.")

    return TextGameEnv()


def register_textarena() -> tuple[str, ...]:
    """Register every game with TextArena; returns the ids, such as `Azumaya-sudoku_moyo-v0`.

    Games that are registered already stay as they are.
    """
    registry = require("textarena.envs.registration", "text")
    ids = []
    for name, game in GAMES.items():
        identity = ID.format(name=name, version=game.version)
        ids.append(identity)
        if identity not in registry.ENV_REGISTRY:
            registry.register(identity, lambda game=name, **options: textarena_env(game, **options))
    return tuple(ids)

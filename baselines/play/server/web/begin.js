// Begins a game on the server and shows it.

import { showGame } from "./game.js";
import { ask, at, shown } from "./page.js";

export async function begin(wish) {
  const here = shown.visit;
  const view = await ask("games", wish);
  if (here !== shown.visit) return; // the person has gone elsewhere; the game is in the list
  history.pushState({}, "", at(`g/${view.id}`));
  scrollTo(0, 0);
  showGame(view, begin).focus();
}

// The players of a game, the first first, where the person has one side.
export function seats(side, opponent) {
  const isFirst = side === "random" ? Math.random() < 0.5 : side === "first";
  return isFirst ? { first: "human", second: opponent } : { first: opponent, second: "human" };
}

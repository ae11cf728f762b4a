// Asks again and again what others do in a game, more rarely while nothing happens.

import { forgetJoined } from "./joined.js";
import { ask, shown } from "./page.js";

const [SOON, LATE, AFTER, GROWTH] = [1000, 5000, 30000, 1.05]; // AFTER: when the game is over
const LOST = "The connection is lost. Trying again...";

// `known()` is the view on the page, `take(view)` shows a newer one, `say(words)` tells of trouble.
// Returns the function that asks at once, as when the page was asleep.
export function followGame(here, known, take, say) {
  let timer = 0;
  let pause = SOON;
  let isLost = false;

  async function look() {
    clearTimeout(timer);
    const before = known();
    if (here !== shown.visit || isDone(before)) return;
    try {
      const next = await ask(`games/${before.id}?known=${before.news}`);
      if (here !== shown.visit) return;
      if (isLost) say("");
      isLost = false;
      const isNew = next.news && known() === before; // otherwise the page has shown something newer
      pause = isNew ? SOON : Math.min(before.over ? AFTER : LATE, pause * GROWTH);
      if (isNew) take(next);
    } catch (problem) {
      if (here !== shown.visit) return;
      const isGone = problem.status === 404;
      say(isGone ? "This game was deleted." : LOST);
      if (isGone) return forgetJoined(before.id);
      isLost = true;
    }
    clearTimeout(timer); // the page may have been woken meanwhile
    timer = setTimeout(look, pause);
  }

  timer = setTimeout(look, SOON);
  return () => {
    pause = SOON;
    look();
  };
}

// Whether nothing more can happen: after a game of two people there may be a rematch, and others can
// take a move back that has ended the game.
function isDone({ over, playedOut, players, rematch }) {
  return over && (rematch || !(playedOut || players.includes("friend")));
}

// A game that is over: its positions, their values, the best moves and the mistakes.

import { add, ask, at, entitle, main, shown } from "./page.js";
import { Replay } from "./replay.js";

const PAUSE = 700;
const KINDS = { g: ["games", "g", "Back to the game"], gallery: ["gallery", "", "Back to the gallery"] };

// `kind` and `name` are those of the address.
export async function showReview(here, kind, name) {
  const [path, page, words] = KINDS[kind];
  const data = await ask(`${path}/${name}/replay`);
  if (here !== shown.visit) return;
  const [game] = data.games;
  if (data.called) {
    game.players = data.called;
    game.sides = game.sides.map((side, n) => (data.called[n] === "You" ? `${side} (you)` : side));
  }
  entitle(`Analysis: ${game.title} - Azumaya`, "analysis of a game");
  main.replaceChildren();
  const replay = new Replay(add(main, "div", "", { class: "review" }), data);
  add(replay.head, "a", words, { href: at(page ? `${page}/${name}` : "gallery") });
  const progress = document.createElement("div");
  replay.wrong.after(progress);
  const status = add(progress, "p", "", { role: "status" });
  const bar = add(progress, "progress", "", { "aria-label": "Analysis", max: game.frames.length });
  const error = add(progress, "p", "", { class: "error", role: "alert" });
  let known = -1;
  const follow = async () => {
    if (here !== shown.visit) return;
    shown.wake = () => {};
    try {
      const review = await ask(`${path}/${name}/review`, {});
      if (here !== shown.visit) return;
      const done = review.plies.length;
      error.textContent = "";
      if (done !== known) replay.review(review);
      known = bar.value = done;
      const isDone = done === review.positions;
      bar.hidden = isDone;
      status.textContent = isDone ? "" : "Analysing; the marks may still change.";
      if (!isDone) setTimeout(follow, PAUSE);
    } catch (problem) {
      if (here !== shown.visit) return;
      shown.wake = follow;
      bar.hidden = true;
      status.textContent = "";
      error.textContent = problem.message;
    }
  };
  await follow();
}

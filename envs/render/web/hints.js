// The list of the moves that a hint has, the best first.

import { add, button } from "./elements.js";

const GHOSTS = 3; // moves of a hint that are drawn at once

// `point(names)` draws moves, `play(name)` makes one, `say(words)` tells. Returns the function that
// shows a hint.
export function buildHints(parent, { point, play, say }) {
  const list = add(parent, "ol", "azb-hints", { "aria-label": "Hint", hidden: "" });
  const show = (hint) => {
    list.replaceChildren();
    say(hint.summary);
    const buttons = hint.moves.map(({ move, verdict }) => {
      const line = add(list, "li");
      const made = button(line, move, "", () => press(move, made, buttons));
      add(line, "span", `azb-verdict azb-${verdict.split(" ")[0]}`).textContent = verdict;
      return made;
    });
    point(hint.moves.slice(0, GHOSTS).map(({ move }) => move));
  };
  // The first press shows the move, the second one makes it.
  const press = (name, pressed, buttons) => {
    if (pressed.getAttribute("aria-pressed") === "true") return play(name);
    for (const each of buttons) each.setAttribute("aria-pressed", each === pressed);
    say(`${name}: press again to play it`);
    point([name]);
  };
  return { list, show };
}

// How to play on this page, and what the keys do, in a window that `?` opens.

import { add } from "./page.js";

const BY_TAPS = [
  "Blue dots and rings show what you can choose. Choose a cell, then a number below the board; or the number first.",
  "Where a piece moves, choose it, then where it goes.",
  "If a move is not allowed, the page says why. A red dot: nothing fits there any more.",
  "Hint shows good moves. Undo takes your last move back. Candidates shows the numbers that still fit.",
  "The rules are under How to play, beside or below the board.",
];
const ON_BOARD = [
  ["Arrow keys", "go from cell to cell"], ["Enter, Space", "click the cell"], ["A number", "place it on the cell"],
  ["Escape", "start the move over"], ["U", "undo"], ["H", "hint"], ["C", "candidates"], ["F", "flip the board"],
];
const IN_GAMES = [["Left, Right", "go back or forward"], ["Home, End", "first or last position"]];

export function offerHelp(header) {
  const dialog = add(document.body, "dialog", "", { class: "keys", "aria-labelledby": "keys-title" });
  add(dialog, "h2", "Help", { id: "keys-title" });
  for (const words of BY_TAPS) add(dialog, "p", words);
  const keys = add(dialog, "div", "", { class: "by-keys" });
  addKeys(keys, "Keys on the board", ON_BOARD);
  addKeys(keys, "Keys in the analysis of a game", IN_GAMES);
  add(dialog, "button", "Close", { type: "button", class: "go" }).addEventListener("click", () => dialog.close());
  const open = () => dialog.open || dialog.showModal();
  add(header, "button", "?", { type: "button", class: "help", "aria-label": "Help", title: "Help (key ?)" })
    .addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.target.closest?.("input, select, textarea")) return;
    event.preventDefault();
    open();
  });
}

function addKeys(parent, heading, keys) {
  add(parent, "h3", heading);
  const list = add(parent, "dl");
  for (const [key, words] of keys) {
    add(add(list, "dt"), "kbd", key);
    add(list, "dd", words);
  }
}

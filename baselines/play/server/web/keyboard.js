// What the keys do, in a window that `?` opens.

import { add } from "./page.js";

const ON_BOARD = [
  ["Arrow keys", "go from cell to cell"], ["Enter, Space", "click the cell"], ["A number", "place it on the cell"],
  ["Escape", "start the move over"], ["U", "undo"], ["H", "hint"], ["C", "candidates"], ["F", "flip the board"],
];
const IN_GAMES = [["Left, Right", "go back or forward"], ["Home, End", "first or last position"]];

export function offerKeyboardHelp(header) {
  const dialog = add(document.body, "dialog", "", { class: "keys", "aria-labelledby": "keys-title" });
  add(dialog, "h2", "Keyboard", { id: "keys-title" });
  addKeys(dialog, "On the board", ON_BOARD);
  addKeys(dialog, "In the analysis of a game", IN_GAMES);
  add(dialog, "button", "Close", { type: "button", class: "go" }).addEventListener("click", () => dialog.close());
  const open = () => dialog.open || dialog.showModal();
  add(header, "button", "?", { type: "button", class: "help", "aria-label": "Keyboard help", title: "Keyboard help (key ?)" })
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

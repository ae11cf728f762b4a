// The rules of a game, and what the marks on its board mean.

import { add } from "./page.js";

// A text that was wrapped by hand, as paragraphs: a sentence whose line has room for the next word ends one.
export function paragraphs(text) {
  const lines = text.split("\n");
  const width = Math.max(...lines.map((line) => line.length));
  const found = [];
  lines.forEach((line, n) => {
    const before = lines[n - 1];
    const hadRoom = n && /[.:]$/.test(before) && before.length + 1 + line.split(" ")[0].length <= width;
    if (n && !hadRoom && !/^\d+\. /.test(line)) found[found.length - 1] += ` ${line}`;
    else found.push(line);
  });
  return found;
}

export function addRules(parent, text) {
  for (const each of paragraphs(text)) {
    const [, number, rest] = each.match(/^(\d+\. )?(.*)$/);
    const line = add(parent, "p", "", number ? { class: "rule" } : {});
    if (number) add(line, "b", number);
    line.append(rest);
  }
}

// Only the marks that this position can show.
export function addLegend(parent, view) {
  const contents = view.cells.map((cell) => cell[4]);
  const isMoving = view.moves.some((move) => move[2].some((path) => path.length > 1));
  const marks = [
    ["dot", "you can play here", true],
    ["ring", "this one can be chosen", isMoving],
    ["forbids", "forbids the move you tried", true],
    ["given", "a square stone was there at the start", contents.some((text) => text.endsWith("given"))],
    ["dead", "nothing fits here any more", contents.includes("dead")],
  ];
  const list = add(parent, "ul", "", { class: "legend" });
  for (const [name, words, isShown] of marks) {
    if (!isShown) continue;
    const line = add(list, "li");
    add(line, "span", "", { class: `mark mark-${name}`, "aria-hidden": "true" });
    line.append(words);
  }
}

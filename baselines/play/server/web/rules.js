// The rules of a game, and what the marks on its board mean.

import { add, at } from "./page.js";

// `paragraphs` are those of the rules; numbered ones begin with the number.
export function addRules(parent, paragraphs) {
  for (const each of paragraphs) {
    const [, number, rest] = each.match(/^(\d+\. )?(.*)$/);
    const line = add(parent, "p");
    if (number) add(line, "b", number);
    line.append(rest);
  }
}

// The way to the lesson of a game, if it has one.
export function addLessonLink(parent, { name, title, lesson }, attributes = {}) {
  if (lesson) add(parent, "a", `Learn ${title} in ${lesson} moves`, { ...attributes, href: at(`lessons/${name}`) });
}

// Only the marks that this position can show.
export function addLegend(parent, view) {
  const contents = view.cells.map((cell) => cell[4]);
  const isMoving = view.moves.some((move) => move[2].some((path) => path.length > 1));
  const marks = [
    ["dot", "you can play here", true],
    ["ring", "this one can be chosen", isMoving],
    ["forbids", "forbids the move you tried", true],
    ["about", "what the sentence speaks of", view.about?.length],
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

// The exercises: what this browser has solved, the list by game and level, and the one of today.

import { add, ask, at, entitle, main, remember, remembered, shown } from "./page.js";

const NONE = { streak: 0, best: 0, solved: {}, day: "" };

// What was solved: `streak` in a row at the first try, `best` so far; by game and level the numbers;
// the `day` whose exercise was solved last.
export function progress() {
  return { ...NONE, ...remembered("exercises", {}) };
}

function solvedIn({ solved }, game, level) {
  return solved[`${game}/${level}`] ?? [];
}

// `isFirst`: whether it was the first try, which alone counts for the streak.
export function note({ game, level, number, day = "" }, isRight, isFirst) {
  const now = progress();
  if (isFirst) now.streak = isRight ? now.streak + 1 : 0;
  now.best = Math.max(now.best, now.streak);
  if (isRight) {
    now.solved[`${game}/${level}`] = [...new Set([...solvedIn(now, game, level), number])];
    if (day) now.day = day;
  }
  remember("exercises", now);
}

export function place({ game, level, number }) {
  return at(`exercises/${game}/${level}/${number}`);
}

// The first number from `number` on that is not solved yet; `number` if all are.
export function unsolved({ game, level, number, of }) {
  const done = new Set(solvedIn(progress(), game, level));
  const numbers = Array.from({ length: of }, (_, n) => ((number - 1 + n) % of) + 1);
  return { game, level, number: numbers.find((n) => !done.has(n)) ?? number };
}

export function streakWords() {
  const { streak, best } = progress();
  return best ? `${streak} in a row at the first try; most so far: ${best}.` : "";
}

export async function addEntry(section, here) {
  const daily = await ask("exercises/daily").catch(() => null);
  if (!daily || here !== shown.visit) return;
  add(section, "h2", "Find the winning move");
  const row = add(section, "div", "", { class: "row" });
  const done = progress().day === daily.day ? ", solved" : "";
  add(row, "a", `Exercise of the day: ${daily.title}${done}`, { class: "link", href: at("exercises/daily") });
  add(row, "a", "All exercises", { class: "link", href: at("exercises") });
}

export async function showExercises(here) {
  const games = await ask("exercises");
  if (here !== shown.visit) return;
  entitle("Exercises - Azumaya", "find the winning move");
  main.replaceChildren();
  await addEntry(add(main, "section"), here);
  if (here !== shown.visit) return;
  add(main, "p", streakWords());
  const list = add(main, "ul", "", { class: "exercises" });
  for (const { name, title, levels } of games) {
    const line = add(list, "li");
    add(line, "h2", title);
    const row = add(line, "div", "", { class: "row" });
    for (const [level, of] of Object.entries(levels)) {
      const done = solvedIn(progress(), name, level).length;
      const link = add(row, "a", level, { class: "link", href: place(unsolved({ game: name, level, number: 1, of })), "aria-label": `${title}, ${level}: ${done} of ${of} solved` });
      add(link, "small", `${done} of ${of}`);
    }
  }
}

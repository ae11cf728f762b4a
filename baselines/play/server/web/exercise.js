// One exercise: the person makes a move, the server says what it is worth, a wrong one is refuted.

import { buildRules } from "./aside.js";
import { mount } from "./board.js";
import { note, place, streakWords, unsolved } from "./exercises.js";
import { add, ask, at, entitle, main, shown } from "./page.js";

const HOW = "Make the move on the board; a wrong one is answered.";
const PAUSE = 900;

export async function showDaily(here) {
  const daily = await ask("exercises/daily");
  if (here === shown.visit) await showExercise(here, daily);
}

// `wanted` has game, level and number, and `day` if it is the exercise of a day.
export async function showExercise(here, wanted) {
  const path = `exercises/${wanted.game}/${wanted.level}/${wanted.number}`;
  const view = await ask(path);
  if (here !== shown.visit) return;
  const isHere = () => here === shown.visit;
  entitle(`Exercise: ${view.title} - Azumaya`, view.title);
  main.replaceChildren();
  const page = add(main, "div", "", { class: "play exercise" });
  const box = add(page, "section");
  add(box, "h2", `${wanted.day ? "Exercise of the day" : "Exercise"}: ${view.level}, ${view.number} of ${view.of}`);
  const words = add(box, "p", HOW, { role: "status", class: "judged" });
  const row = add(box, "div", "", { class: "row" });
  const again = add(row, "button", "Try again", { type: "button", hidden: "" });
  const next = add(row, "a", "Next", { class: "link", hidden: "" });
  add(row, "a", "All exercises", { class: "link", href: at("exercises") });
  const streak = add(box, "p", streakWords());
  const board = mount(add(page, "div"), {
    play: (move) => answer(move),
    explain: (cells, label) => ask(`${path}/explain`, { cells, label })
      .then(({ sentences }) => sentences, (problem) => [problem.message]),
  });
  buildRules(add(page, "div"), view)(view);
  let isFirst = true;
  let isBusy = false;

  async function answer(move) {
    if (isBusy) return;
    isBusy = true;
    words.textContent = "Looking for an answer...";
    try {
      const judged = await ask(`${path}/judge`, { move });
      if (!isHere()) return;
      note({ ...wanted, ...view }, judged.right, isFirst);
      isFirst = false;
      await playLine(board, judged.views, isHere);
      if (!isHere()) return;
      words.textContent = judged.words;
      words.dataset.right = judged.right;
      streak.textContent = streakWords();
      next.href = place(unsolved({ ...view, number: (view.number % view.of) + 1 }));
      again.hidden = judged.right;
      next.hidden = false;
      (judged.right ? next : again).focus();
    } catch (problem) {
      if (isHere()) words.textContent = problem.message;
    } finally {
      isBusy = false;
    }
  }

  again.addEventListener("click", () => {
    board.show(view);
    words.textContent = HOW;
    delete words.dataset.right;
    again.hidden = true;
    board.focus();
  });
  board.show(view);
}

// Positions that follow each other by themselves.
export async function playLine(board, views, isHere) {
  for (const [n, each] of views.entries()) {
    if (n) await new Promise((done) => setTimeout(done, PAUSE));
    if (isHere()) board.show(each);
  }
}

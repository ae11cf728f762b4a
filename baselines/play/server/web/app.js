// The pages of `azumaya serve`: which one an address shows.

import { begin } from "./begin.js";
import { showDaily, showExercise } from "./exercise.js";
import { showExercises } from "./exercises.js";
import { showGallery } from "./gallery.js";
import { showGame } from "./game.js";
import { offerHelp } from "./help.js";
import { forgetJoined } from "./joined.js";
import { showLesson } from "./lesson.js";
import { add, ask, at, entitle, main, ROOT, shown } from "./page.js";
import { showReview } from "./review.js";
import { showStart } from "./start.js";

async function route() {
  const here = (shown.visit += 1);
  const path = location.pathname.slice(ROOT.pathname.length);
  const game = path.match(/^g\/([\w.-]+)$/);
  const reviewed = path.match(/^(g|gallery)\/([\w.-]+)\/analysis$/);
  const lesson = path.match(/^lessons\/(\w+)$/);
  const exercise = path.match(/^exercises\/(\w+)\/(\w+)\/(\d+)$/);
  try {
    if (game) {
      const view = await ask(`games/${game[1]}`);
      if (here === shown.visit) showGame(view, begin);
    } else if (reviewed) await showReview(here, ...reviewed.slice(1));
    else if (exercise) {
      const [, name, level, number] = exercise;
      await showExercise(here, { game: name, level, number: Number(number) });
    } else if (lesson) await showLesson(here, lesson[1]);
    else if (path === "exercises/daily") await showDaily(here);
    else if (path === "exercises") await showExercises(here);
    else if (path === "gallery") await showGallery(here);
    else if (path === "") await showStart(here);
    else throw Object.assign(new Error("there is nothing at this address"), { status: 404 });
  } catch (problem) {
    if (game && problem.status === 404) forgetJoined(game[1]);
    if (here === shown.visit) showProblem(problem);
  }
}

function showProblem({ message, status }) {
  entitle("Azumaya", "");
  main.replaceChildren();
  const box = add(main, "section", "", { class: "problem" });
  add(box, "h2", "This page cannot be shown");
  add(box, "p", `${message[0].toUpperCase()}${message.slice(1)}.`, { class: "error", role: "alert" });
  if (status === 404) add(box, "p", "The address may be mistyped, or the game was deleted or belongs to another browser.");
  const row = add(box, "p", "", { class: "row" });
  add(row, "a", "Choose a game", { href: at(""), class: "link" });
  add(row, "a", "Gallery", { href: at("gallery"), class: "link" });
}

// What had the keyboard's focus is gone with the page before.
async function goBack() {
  await route();
  main.focus();
}

window.addEventListener("popstate", goBack);
window.addEventListener("online", () => shown.wake());
document.addEventListener("visibilitychange", () => document.hidden || shown.wake());
offerHelp(document.querySelector("header"));
route();

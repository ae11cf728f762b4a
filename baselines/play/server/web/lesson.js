// A first game in a few moves: each step has a sentence, and any move that makes its point goes on.

import { buildRules } from "./aside.js";
import { begin, seats } from "./begin.js";
import { mount } from "./board.js";
import { playLine } from "./exercise.js";
import { add, ask, at, choices, entitle, main, shown } from "./page.js";

export async function showLesson(here, game) {
  const path = `lessons/${game}`;
  let made = history.state?.made ?? []; // a page that is loaded again goes on where it was
  let view = await ask(path, { made }).catch((problem) => {
    if (!made.length) throw problem;
    made = []; // the lesson has changed since
    return ask(path, { made });
  });
  if (here !== shown.visit) return;
  const isHere = () => here === shown.visit;
  entitle(`First game: ${view.title} - Azumaya`, view.title);
  main.replaceChildren();
  const page = add(main, "div", "", { class: "play exercise lesson" });
  const box = add(page, "section");
  const heading = add(box, "h2");
  const words = add(box, "p", "", { role: "status", class: "judged" });
  const row = add(box, "div", "", { class: "row" });
  let isBusy = false;
  const board = mount(add(page, "div"), {
    play: (move) => attempt(move),
    explain: (cells, label) => ask(`${path}/explain`, { made, cells, label })
      .then(({ sentences }) => sentences, (problem) => [problem.message]),
  });
  buildRules(add(page, "div"), view)(view);

  async function attempt(move) {
    if (isBusy) return;
    isBusy = true;
    try {
      const tried = await ask(`${path}/try`, { made, move });
      if (!isHere()) return;
      say(tried.words, tried.right);
      if (!tried.right) return;
      await playLine(board, tried.views, isHere);
      made = [...made, move];
      if (isHere()) await goOn(tried.words);
    } catch (problem) {
      if (isHere()) say(problem.message, false);
    } finally {
      isBusy = false;
    }
  }

  // What follows is asked for while the person reads, so that the button answers at once.
  async function goOn(said) {
    const next = await ask(path, { made }).catch((problem) => problem);
    if (!isHere()) return;
    if (next instanceof Error) {
      say(next.message, false);
      addButton("Try again", () => {
        row.replaceChildren();
        say(said, true);
        goOn(said);
      });
      return;
    }
    view = next;
    addButton(view.done ? "Finish" : "Next", show);
  }

  function addButton(text, act) {
    const made = add(row, "button", text, { type: "button", class: "go" });
    made.addEventListener("click", act);
    made.focus({ preventScroll: true });
    return made;
  }

  function say(text, isRight = undefined) {
    words.textContent = text;
    if (isRight === undefined) delete words.dataset.right;
    else words.dataset.right = isRight;
  }

  function show() {
    history.replaceState({ made }, "");
    row.replaceChildren();
    heading.textContent = view.done ? "That is the game" : `Your first game: move ${view.number} of ${view.of}`;
    say(view.say);
    board.show(view);
    if (view.done) addWaysOn();
    else if (made.length) board.focus();
  }

  function addWaysOn() {
    const on = addButton("Play on from here", async () => {
      on.disabled = true;
      try {
        const offered = await choices();
        const { player } = offered.games.find(({ name }) => name === game).levels[0];
        const players = seats(view.toMove ? "second" : "first", player);
        await begin({ game, options: { position: view.position }, ...players });
      } catch (problem) {
        say(problem.message, false);
        on.disabled = false;
      }
    });
    add(row, "a", "Choose a game", { class: "link", href: at("") });
  }

  show();
}

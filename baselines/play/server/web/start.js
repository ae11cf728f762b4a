// The start page: choosing an opponent, a card for each game, and the games of this visitor.

import { begin, seats } from "./begin.js";
import { CLOCKS, clockOf } from "./clock.js";
import { addEntry } from "./exercises.js";
import { addForm, addSelect } from "./form.js";
import { showGames } from "./games.js";
import { showJoined } from "./joined.js";
import { add, ask, at, choices, entitle, main, remember, remembered, shown } from "./page.js";
import { addLessonLink, addRules } from "./rules.js";

const SIDES = [["first", "First"], ["second", "Second"], ["random", "Random"]];
const PEOPLE = { "A friend, by a link": "friend", "Another person here": "human" };
const USUAL = { level: "Beginner", side: "first", clock: "" };

export async function showStart(here) {
  const [offered, games] = await Promise.all([choices(), ask("games")]);
  if (here !== shown.visit) return;
  entitle("Azumaya", "two-player games, most of them built on the Sudoku rule");
  main.replaceChildren();
  const unfinished = add(main, "section", "", { class: "unfinished" });
  if (!games.length) addWelcome(main, offered.games);
  const chosen = addChoices(main, offered.games);
  const status = add(main, "p", "", { role: "status", class: "unseen" });
  const error = add(main, "p", "", { class: "error", role: "alert" });
  const list = add(main, "ul", "", { class: "cards" });
  for (const game of offered.games) addCard(list, game, (button) => play(game, button));
  showGames({ unfinished, finished: add(main, "section") }, games);
  showJoined(add(main, "section"));
  addEntry(add(main, "section"), here);
  const more = add(main, "details", "", { class: "more" });
  add(more, "summary", "Play with options");
  addForm(more, offered);
  add(add(main, "p", "Or watch "), "a", "games between agents", { href: at("gallery") });

  async function play({ name, title, levels }, pressed) {
    const opponent = PEOPLE[chosen.level]
      ?? (levels.find((level) => level.name === chosen.level) ?? levels.at(-1)).player;
    const buttons = list.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    error.textContent = "";
    status.textContent = `Preparing ${title}...`;
    pressed.textContent = "Preparing...";
    try {
      const clock = clockOf(chosen.clock);
      await begin({ game: name, options: {}, ...seats(chosen.side, opponent), clock });
    } catch (problem) {
      error.textContent = problem.message;
      error.scrollIntoView({ block: "nearest" });
    } finally {
      for (const button of buttons) button.disabled = false;
      pressed.textContent = "Play";
      status.textContent = "";
    }
  }
}

// For those who have not played here yet.
function addWelcome(parent, games) {
  const game = games.find(({ lesson }) => lesson);
  if (game) addLessonLink(add(parent, "p", "New here? ", { class: "welcome" }), game, { class: "link go" });
}

// Opponent, side and clock, which stay as they were at the last visit. Returns what is chosen.
function addChoices(parent, games) {
  const levels = games.reduce((most, { levels }) => (levels.length > most.length ? levels : most), []);
  const chosen = { ...USUAL, ...remembered("start", {}) };
  const names = [...levels.map(({ name }) => name), ...Object.keys(PEOPLE)];
  if (!names.includes(chosen.level)) chosen.level = USUAL.level;
  const box = add(parent, "div", "", { class: "choose" });
  const opponents = addRadios(box, "Opponent", names.map((name) => [name, name]), chosen, "level");
  const info = add(opponents, "details", "", { class: "info" });
  add(info, "summary", "i", { "aria-label": "What the levels are" });
  const meanings = add(info, "dl");
  for (const { name, meaning } of levels) {
    add(meanings, "dt", name);
    add(meanings, "dd", meaning);
  }
  add(meanings, "dt", "A friend");
  add(meanings, "dd", "Plays at another device: you get a link to send.");
  addRadios(box, "You move", SIDES, chosen, "side");
  if (!CLOCKS.some(([value]) => value === chosen.clock)) chosen.clock = USUAL.clock;
  const clock = addSelect(box, "Clock", CLOCKS);
  clock.title = "Minutes for each side + seconds gained with each turn";
  clock.value = chosen.clock;
  clock.addEventListener("change", () => {
    chosen.clock = clock.value;
    remember("start", chosen);
  });
  return chosen;
}

function addRadios(parent, legend, values, chosen, key) {
  const box = add(parent, "fieldset", "", { class: "radios" });
  add(box, "legend", legend);
  for (const [value, text] of values) {
    const label = add(box, "label");
    const input = add(label, "input", "", { type: "radio", name: key, value });
    input.checked = chosen[key] === value;
    input.addEventListener("change", () => {
      chosen[key] = value;
      remember("start", chosen);
    });
    add(label, "span", text);
  }
  return box;
}

function addCard(list, game, play) {
  const { name, title, idea, minutes, picture, rules } = game;
  const card = add(list, "li", "", { class: "card" });
  if (picture) add(card, "img", "", { src: at(`static/${name}.svg`), alt: "", width: 240, height: 240 });
  const text = add(card, "div");
  add(text, "h2", title);
  if (idea) add(text, "p", idea);
  if (minutes) add(text, "small", `about ${minutes} minutes`);
  const button = add(text, "button", "Play", { type: "button", class: "go", "aria-label": `Play ${title}` });
  button.addEventListener("click", () => play(button));
  addLessonLink(text, game, { class: "learn" });
  const folded = add(text, "details");
  add(folded, "summary", "Rules");
  addRules(folded, rules);
}

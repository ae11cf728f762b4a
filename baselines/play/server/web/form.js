// A game with all its options and opponents, for those who want more than the cards offer.

import { begin, seats } from "./begin.js";
import { add } from "./page.js";

const NAMES = { human: "another person at this screen", friend: "a friend at another device, by a link", random: "random moves", greedy: "greedy, one step ahead" };
const KINDS = { uct: "tree search", champion: "trained search" };

// Levels are shown by their names, other agents by what the library calls them.
function opponentName(name, levels) {
  const [, kind, time] = name.match(/^(\w+):([\d.]+)ms$/) || [];
  const plain = NAMES[name] ?? (time ? `${KINDS[kind] ?? kind}, ${time} ms a move` : name);
  const level = levels.find(({ player }) => player === name);
  return level ? `${level.name}: ${plain}` : plain;
}

export function addForm(parent, offered) {
  const form = add(parent, "form");
  const game = addSelect(form, "Game", offered.games.map(({ name, title }) => [name, title]));
  const side = addSelect(form, "You move", [["first", "first"], ["second", "second"], ["random", "first or second, at random"]]);
  const opponent = addSelect(form, "Against", []);
  const minutes = addNumber(form, "Clock: minutes for each side", { min: 0.5, max: 180, step: 0.5, placeholder: "no clock" });
  const increment = addNumber(form, "Clock: seconds gained with each turn", { min: 0, max: 180, placeholder: 0 });
  const box = add(form, "fieldset");
  const change = () => {
    const chosen = offered.games.find(({ name }) => name === game.value);
    const players = offered.players.filter(({ games }) => !games || games.includes(chosen.name));
    const before = opponent.value;
    opponent.replaceChildren();
    for (const { name } of players) add(opponent, "option", opponentName(name, chosen.levels), { value: name });
    opponent.value = before;
    if (!opponent.value) opponent.value = offered.default; // the one before does not play this game
    showOptions(box, chosen.options);
  };
  game.addEventListener("change", change);
  change();
  const go = add(form, "button", "Play", { class: "go" });
  const status = add(form, "p", "", { role: "status" });
  const error = add(form, "p", "", { class: "error", role: "alert" });
  // The browser cannot say what is wrong with a field that is not shown.
  form.addEventListener("invalid", () => { parent.open = true; }, true);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    error.textContent = "";
    status.textContent = "Preparing the game...";
    try {
      const clock = minutes.value ? { minutes: Number(minutes.value), increment: Number(increment.value) } : undefined;
      await begin({ ...wish(game.value, seats(side.value, opponent.value), new FormData(form)), clock });
    } catch (problem) {
      error.textContent = problem.message;
    } finally {
      go.disabled = false;
      status.textContent = "";
    }
  });
}

export function addSelect(parent, label, options) {
  const made = add(add(parent, "label", label), "select", "", { "aria-label": label });
  for (const [value, text] of options) add(made, "option", text, { value });
  return made;
}

function addNumber(parent, label, attributes) {
  return add(add(parent, "label", label), "input", "", { type: "number", "aria-label": label, ...attributes });
}

function showOptions(box, options) {
  box.replaceChildren();
  add(box, "legend", "Leave blank for the default");
  for (const { name, default: usual, values, meaning, suggested } of options) {
    const label = add(box, "label", inWords(name));
    const list = `list-${name}`;
    add(label, "input", "", {
      name: `option:${name}`, placeholder: usual, list, autocomplete: "off", maxlength: 2000, spellcheck: "false",
    });
    if (suggested.length) {
      const given = add(label, "datalist", "", { id: list });
      for (const value of suggested) add(given, "option", "", { value });
    }
    add(label, "small", `${meaning} Values: ${values}.`);
  }
  const seed = add(box, "label", "Seed");
  add(seed, "input", "", { name: "seed", type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, placeholder: "random" });
  add(seed, "small", "Fixes the start position and all chance events.");
}

// `max_plies` as `Max plies`.
function inWords(name) {
  const words = name.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

function wish(game, players, fields) {
  const options = {};
  for (const [key, value] of fields) if (key.startsWith("option:") && value) options[key.slice(7)] = value;
  const made = { game, options, ...players };
  if (fields.get("seed")) made.seed = Number(fields.get("seed"));
  return made;
}

// What stands beside the board: the end of the game, moves, rules, sharing.

import { add, at, choices, remember, remembered } from "./page.js";
import { addCopy } from "./links.js";
import { addLegend, addLessonLink, addRules } from "./rules.js";

// `look(ply)` shows an earlier position. Returns the functions that renew all this, and that mark a
// move of the list. The row to share is made only once: it may show a link that
// is just being copied.
export function buildAside(aside, first, begin, look) {
  const end = add(aside, "section", "", { class: "end", "aria-live": "polite", hidden: "" });
  add(aside, "h2", "Players");
  const players = add(aside, "div");
  const heading = add(aside, "h2");
  const list = add(aside, "ol", "", { class: "moves" });
  const showRules = buildRules(aside, first);
  add(aside, "h2", "Share");
  buildShare(add(aside, "div", "", { class: "row" }), first);
  const mark = (ply) => [...list.children].forEach((line, n) => {
    if (n === ply - 1) line.setAttribute("aria-current", "step");
    else line.removeAttribute("aria-current");
  });
  const show = (view) => {
    players.replaceChildren();
    view.called.forEach((name, n) => add(players, "div", isSide(view, n) ? name : `${name}: ${view.sides[n]}`));
    heading.textContent = `Moves (${view.ply})`;
    list.replaceChildren();
    view.made.forEach((move, n) => {
      const line = add(list, "li", "", view.movers[n] ? { class: "second" } : {});
      add(line, "button", move, { type: "button" }).addEventListener("click", () => look(n + 1));
    });
    mark(view.ply);
    list.scrollTop = list.scrollHeight;
    showEnd(end, view, begin);
    showRules(view);
  };
  return { show, mark };
}

function isSide(view, n) {
  return view.called[n].toLowerCase() === view.sides[n];
}

// ---- the end ----

function showEnd(card, view, begin) {
  const isNew = card.hidden && view.over;
  card.hidden = !view.over;
  if (!view.over) return;
  remember("played", [...new Set([...remembered("played", []), view.game])]);
  card.replaceChildren();
  add(card, "h2", view.status);
  for (const words of [reason(view), view.playedOut && view.idea]) if (words) add(card, "p", words);
  const error = add(card, "p", "", { class: "error", role: "alert" });
  const row = add(card, "div", "", { class: "row" });
  const again = async (first, second) => {
    for (const each of row.querySelectorAll("button")) each.disabled = true;
    const clock = view.clock ?? undefined;
    await begin({ game: view.game, options: view.options, first, second, clock }).catch((problem) => {
      error.textContent = problem.message;
    });
    for (const each of row.querySelectorAll("button")) each.disabled = false;
  };
  const [first, second] = view.players;
  const isOwn = view.seats.length && !view.players.includes("friend");
  if (isOwn) add(row, "button", "Rematch", { type: "button", class: "go" }).addEventListener("click", () => again(first, second));
  if (isOwn && first !== second) add(row, "button", "Swap sides", { type: "button" }).addEventListener("click", () => again(second, first));
  if (view.rematch) add(row, "a", "Go to the rematch", { class: "link", href: at(`g/${view.rematch}`) });
  if (view.seats.length) add(row, "a", "Analyse", { class: "link", href: at(`g/${view.id}/analysis`) });
  add(row, "a", "New game", { class: "link", href: at("") });
  if (isNew) card.scrollIntoView({ block: "nearest" });
}

// What the game says of its end, with the points where more than a win is at stake.
function reason(view) {
  const points = Math.abs(view.returns[0]);
  const words = view.task;
  return points > 1 && !/\d/.test(words) ? `${words} by ${points} points` : words;
}

// ---- rules and sharing ----

// Open until the first game of its kind is over.
export function buildRules(aside, first) {
  const panel = add(aside, "details", "", { class: "rules" });
  panel.open = !remembered("played", []).includes(first.game);
  add(panel, "summary", "How to play");
  const legend = add(panel, "div");
  const rules = add(panel, "div");
  choices().then(({ games }) => {
    const game = games.find(({ name }) => name === first.game);
    if (!game) return;
    addRules(rules, game.rules);
    if (!first.about) addLessonLink(add(rules, "p"), game);
  }, () => {});
  const options = Object.entries(first.options).map((pair) => pair.join(" = "));
  if (options.length) add(panel, "p", `Options of this game: ${options.join(", ")}.`);
  return (view) => {
    legend.replaceChildren();
    addLegend(legend, view);
  };
}

function buildShare(row, { id, share, watch }) {
  add(row, "a", "Watch", { class: "link", href: at(`watch/${share}`), target: "_blank", rel: "noopener" });
  add(row, "a", "Record", { class: "link", href: at(`api/games/${id}/record`), download: "" });
  addCopy(row, "Copy link", at(`watch/${share}`));
  addCopy(row, "Copy live link", at(`g/${watch}`));
}

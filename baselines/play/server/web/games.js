// The games of this visitor: those to go on with, and those that are over.

import { add, ask, at, main } from "./page.js";

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const SHOWN = 3; // of a list; the others are folded

// `places` are the sections for the games that go on and for those that are over; `focused` is the
// number of the game whose button gets the keyboard's focus, if any.
export function showGames(places, games, focused = -1) {
  const sections = Object.values(places);
  const buttons = () => sections.flatMap((section) => [...section.querySelectorAll(".games button")]);
  for (const section of sections) section.replaceChildren();
  if (!games.length) return focused < 0 || main.focus();
  const remove = async ({ id }, title, button) => {
    if (!confirm(`Delete this game for good? ${title}`)) return;
    const n = buttons().indexOf(button);
    try {
      showGames(places, await ask(`games/${id}`, undefined, "DELETE"), n);
    } catch (problem) {
      const error = add(button.closest("section"), "p", problem.message, { class: "error", role: "alert" });
      error.scrollIntoView({ block: "nearest" });
    }
  };
  addList(places.unfinished, "Continue", games.filter(({ result }) => !result), remove);
  addList(places.finished, "Finished games", games.filter(({ result }) => result), remove);
  if (focused < 0) return;
  const next = buttons()[Math.min(focused, games.length - 1)];
  const folded = next.closest("details");
  if (folded) folded.open = true;
  next.focus();
}

function addList(section, heading, games, remove) {
  if (!games.length) return;
  add(section, "h2", heading);
  // A long list would hide what the page begins with.
  const rest = games.length > SHOWN && add(document.createElement("div"), "details");
  if (rest) add(rest, "summary", `${games.length - SHOWN} more`);
  const lists = [section, rest].map((parent) => parent && add(parent, "ul", "", { class: "games" }));
  if (rest) section.append(rest);
  for (const [n, each] of games.entries()) {
    const list = lists[Number(n >= SHOWN)];
    const { id, game, names, moves, result, touched } = each;
    const line = add(list, "li");
    const title = `${game}, ${against(names)}`;
    add(line, "a", title, { href: at(`g/${id}`) });
    const made = `${moves} ${moves === 1 ? "move" : "moves"}`;
    add(line, "small", ` ${[result, made, DAY.format(touched * 1000)].filter(Boolean).join(", ")} `);
    if (result) add(line, "a", "Analyse", { href: at(`g/${id}/analysis`), "aria-label": `Analyse ${title}` });
    const button = add(line, "button", "Delete", { type: "button", "aria-label": `Delete ${title}` });
    button.addEventListener("click", () => remove(each, title, button));
  }
}

function against(names) {
  const others = names.filter((name) => name && name !== "You");
  if (names.includes("You") && !others.length) return "against a friend";
  return others.length ? `against ${others.join(" and ")}` : "two people";
}

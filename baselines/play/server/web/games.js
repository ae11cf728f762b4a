// The games of this visitor: those to go on with, and those that are over.

import { add, ask, at, main } from "./page.js";

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

// `focused` is the number of the game whose button gets the keyboard's focus, if any.
export function showGames(section, games, focused = -1) {
  section.replaceChildren();
  if (!games.length) return focused < 0 || main.focus();
  const error = document.createElement("p");
  const remove = async ({ id }, title, button) => {
    if (!confirm(`Delete this game for good? ${title}`)) return;
    const n = [...section.querySelectorAll(".games button")].indexOf(button);
    try {
      showGames(section, await ask(`games/${id}`, undefined, "DELETE"), n);
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  addList(section, "Continue", games.filter(({ result }) => !result), remove);
  addList(section, "Finished games", games.filter(({ result }) => result), remove);
  section.append(error);
  error.className = "error";
  error.setAttribute("role", "alert");
  const buttons = section.querySelectorAll(".games button");
  if (focused >= 0) buttons[Math.min(focused, buttons.length - 1)].focus();
}

function addList(section, heading, games, remove) {
  if (!games.length) return;
  add(section, "h2", heading);
  const list = add(section, "ul", "", { class: "games" });
  for (const each of games) {
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

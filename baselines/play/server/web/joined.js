// Games that this person joined by a friend's link, which only this browser remembers.

import { add, at, remember, remembered } from "./page.js";

const MOST = 20;

export function rememberJoined({ id, title, players, friend, seats, over }) {
  if (!players.includes("friend") || friend || !seats.length) return; // one's own, or only looked at
  forgetJoined(id);
  if (!over) remember("joined", [{ id, title }, ...remembered("joined", [])].slice(0, MOST));
}

export function forgetJoined(id) {
  remember("joined", remembered("joined", []).filter((each) => each.id !== id));
}

export function showJoined(section) {
  const games = remembered("joined", []);
  if (!games.length) return;
  add(section, "h2", "Games of your friends");
  const list = add(section, "ul", "", { class: "games" });
  for (const { id, title } of games) add(add(list, "li"), "a", title, { href: at(`g/${id}`) });
}

// What players agree on: resigning, a draw, taking a move back, another game.

import { add } from "./page.js";

// What is offered, to complete "You have ..." and "Black ...".
const ASKED = {
  draw: ["offered a draw", "offers a draw"],
  takeback: ["asked to take your last move back", "asks to take a move back"],
  rematch: ["offered a rematch", "offers a rematch"],
  swapped: ["offered a rematch with sides swapped", "offers a rematch with sides swapped"],
};
const BUTTONS = {
  draw: "Offer a draw", takeback: "Ask to take back", rematch: "Offer a rematch",
  swapped: "Offer to swap sides",
};

// `act(name, body)` sends what the person wants. Returns the function that renews the controls.
export function buildAgreements(parent, act) {
  const box = add(parent, "div", "", { class: "agree", role: "group", "aria-label": "Resign and offers" });
  const words = add(box, "p", "", { role: "status" });
  const row = add(box, "div", "", { class: "row" });
  let last = "";
  return (view) => {
    const isDone = !view.seats.length || (view.over && !view.offers.length);
    const state = JSON.stringify([isDone, view.over, view.offers, view.offer]);
    if (state === last) return; // a button that is being pressed stays
    last = state;
    const hadFocus = row.contains(document.activeElement);
    row.replaceChildren();
    words.textContent = isDone || !view.offer ? "" : told(view);
    if (!isDone) addButtons(row, view, act);
    box.hidden = isDone;
    if (hadFocus) row.querySelector("button")?.focus();
  };
}

function addButtons(row, { seats, offers, offer, over }, act) {
  const press = (text, name, body, warning = "") => add(row, "button", text, { type: "button" })
    .addEventListener("click", () => (!warning || confirm(`${text}? ${warning}`)) && act(name, body));
  if (offer?.yours) press("Withdraw", "decline");
  else if (offer) {
    press("Accept", "offer", { what: offer.what });
    press("Decline", "decline");
  } else if (seats.length > 1 && offers.length) press("Agree on a draw", "offer", { what: offers[0] }, "The game is over then.");
  else for (const what of offers) press(BUTTONS[what], "offer", { what });
  if (!over) press("Resign", "resign", {}, "The game is lost then.");
}

function told({ offer, seats, called }) {
  const [yours, theirs] = ASKED[offer.what];
  return offer.yours ? `You have ${yours}.` : `${called[1 - seats[0]]} ${theirs}.`;
}

// What has happened between two views, in words.
export function newsOf(before, { ply, made, movers, called, changes, seats, offer, rematch }) {
  if (ply > before.ply) return `${called[movers.at(-1)]}: ${made.slice(begun(movers)).join(", ")}`;
  if (ply < before.ply) return "The move was taken back.";
  const isGone = before.offer && !offer && !rematch && changes === before.changes;
  if (!isGone || !seats.length) return "";
  return before.offer.yours ? "The offer was declined." : "The offer was withdrawn.";
}

// The number of moves before the last turn, which may have had several.
function begun(movers) {
  return movers.findLastIndex((mover) => mover !== movers.at(-1)) + 1;
}

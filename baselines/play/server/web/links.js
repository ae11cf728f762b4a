// Links to a game: for a friend, who plays by one, and for those who look on.

import { add, at } from "./page.js";

const COPIED_FOR = 3000;

// A button that copies a link, and shows it where it cannot.
export function addCopy(row, text, link) {
  const copy = add(row, "button", text, { type: "button" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = text; }, COPIED_FOR);
    } catch { // browsers copy only on pages by HTTPS or from this machine, and only if allowed
      const shown = add(row, "input", "", { "aria-label": "Link", readonly: "", value: link });
      copy.remove();
      shown.select();
    }
  });
}

// The friend's link, above the board until it has been opened, then among what stands beside it.
// Returns the function that renews it.
export function buildInvitation(above, beside, { friend, players }) {
  if (!friend) return () => {};
  const box = document.createElement("details");
  box.className = "invite";
  box.open = true;
  add(box, "summary", "Your friend's link");
  const words = add(box, "p");
  const row = add(box, "div", "", { class: "row" });
  const link = at(`g/${friend}`);
  const field = add(row, "input", "", { "aria-label": "Your friend's link", readonly: "", value: link });
  field.addEventListener("focus", () => field.select());
  addCopy(row, "Copy friend's link", link);
  const status = add(box, "p", "Waiting for your friend to open it...", { role: "status" });
  above.prepend(box);
  return ({ joined, over, sides }) => {
    const side = sides[players.indexOf("friend")]; // which may be chosen in the game
    words.textContent = `Send this link to your friend: whoever has it plays ${side}.`;
    if (!status.textContent || !(joined || over)) return;
    status.textContent = "";
    box.open = false;
    beside.append(box);
  };
}

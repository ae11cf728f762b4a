// The clocks of both sides. The server counts; the page only shows how its last answer goes on.

import { add } from "./page.js";

const TICK = 200;
const [LATE, AGAIN] = [10, 1000]; // seconds from which on tenths are shown; when to ask once more

// What can be chosen with one tap: minutes for each side, and seconds for each turn.
export const CLOCKS = [
  ["", "none"], ["3+2", "3 min + 2 s"], ["10+5", "10 min + 5 s"], ["30+10", "30 min + 10 s"],
];

export function clockOf(text) {
  const [minutes, increment] = text.split("+").map(Number);
  return text ? { minutes, increment } : undefined;
}

// `runOut()` is called when a time has run out, which the server has to confirm. Returns the function
// that renews the clocks.
export function buildClocks(parent, runOut) {
  const box = add(parent, "div", "", { class: "clocks", hidden: "" });
  const shown = [0, 1].map(() => {
    const side = add(box, "div", "", { role: "timer" });
    return { side, name: add(side, "span"), time: add(side, "b") };
  });
  let [clock, since, timer] = [null, 0, 0];

  function draw() {
    clearTimeout(timer);
    let isOut = false;
    shown.forEach(({ side, time }, n) => {
      const isRunning = clock.running === n;
      const left = Math.max(0, clock.left[n] - (isRunning ? (Date.now() - since) / 1000 : 0));
      time.textContent = inWords(left);
      side.dataset.running = isRunning;
      side.dataset.late = left < LATE;
      isOut ||= isRunning && !left;
    });
    if (clock.running === null || !box.isConnected) return;
    if (isOut) runOut();
    timer = setTimeout(draw, isOut ? AGAIN : TICK);
  }

  return (view) => {
    if (view.clock !== clock) since = Date.now(); // the same view may be shown once more
    clock = view.clock;
    box.hidden = !clock;
    if (!clock) return;
    shown.forEach(({ side, name }, n) => {
      side.hidden = !clock.timed[n];
      name.textContent = view.called[n];
      side.setAttribute("aria-label", `Time of ${view.called[n]}`);
    });
    draw();
  };
}

function inWords(seconds) {
  const tenths = seconds < LATE ? Math.ceil(seconds * 10) / 10 : Math.ceil(seconds);
  const rest = tenths % 60;
  return `${Math.floor(tenths / 60)}:${rest < 10 ? "0" : ""}${seconds < LATE ? rest.toFixed(1) : rest}`;
}

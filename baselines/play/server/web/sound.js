// A short sound for each move, which is off until the person wants it.

import { add, remember, remembered } from "./page.js";

const [MOVE, END] = [[330], [392, 523]]; // hertz
const SECONDS = 0.12;
let audio = null;

function sound(tones) {
  audio ??= new AudioContext();
  audio.resume();
  tones.forEach((hertz, n) => {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    const start = audio.currentTime + n * SECONDS;
    tone.type = "triangle";
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0.2, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + SECONDS);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + SECONDS);
  });
}

// Adds the switch. Returns the function that sounds what has happened between two views.
export function buildSounds(parent) {
  const label = add(parent, "label", "", { class: "sounds" });
  const input = add(label, "input", "", { type: "checkbox" });
  label.append("Sounds");
  input.checked = remembered("sounds", false);
  input.addEventListener("change", () => {
    remember("sounds", input.checked);
    if (input.checked) sound(MOVE);
  });
  return (before, after) => {
    if (!input.checked || before === after) return;
    if (after.over && !before.over) sound(END);
    else if (after.ply !== before.ply) sound(MOVE);
  };
}

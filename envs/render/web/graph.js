// The graph of a game's values: a picture, and a slider that goes from move to move.

import { add, svgElement } from "./elements.js";

const HALF = 50; // of the height, in units of the picture

export class Graph {
  // `go(ply)` is called when the person chooses a position.
  constructor(parent, go) {
    this.go = go;
    this.box = add(parent, "div", "azr-graph", { hidden: "" });
    this.axis = add(parent, "p", "azr-axis", { hidden: "" });
    this.svg = this.box.appendChild(svgElement("svg", {
      preserveAspectRatio: "none", role: "slider", tabindex: 0, "aria-label": "Value of the game, move by move",
    }));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.follow(event);
    });
    this.svg.addEventListener("pointermove", (event) => event.buttons && this.follow(event));
  }

  // `game` has `values`, as far as they are known, and `bound`, `sides`, perhaps a `review`.
  draw(game, last) {
    const { values, bound, review } = game;
    const isEmpty = !values?.length;
    this.box.hidden = this.axis.hidden = isEmpty;
    this.last = last;
    this.mark = null;
    this.scale = 1; // the value at the top
    if (isEmpty) return;
    const scale = this.scale = Math.min(bound, Math.max(1, 1.2 * Math.max(...values.map(Math.abs))));
    const height = (value) => (-HALF * value) / scale;
    const add = (tag, name, attributes) => this.svg.appendChild(svgElement(tag, { class: name, ...attributes }));
    const points = values.map((value, n) => `${n},${height(value)}`);
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 ${-1.08 * HALF} ${Math.max(1, last)} ${2.16 * HALF}`);
    this.svg.setAttribute("aria-valuemax", last);
    this.svg.setAttribute("aria-valuemin", 0);
    add("polygon", "azr-area", { points: ["0,0", ...points, `${values.length - 1},0`].join(" ") });
    add("line", "azr-zero", { x1: 0, x2: last, y1: 0, y2: 0 });
    add("polyline", "azr-line", { points: points.join(" ") });
    const proven = (n) => review?.plies[n]?.exact && review.plies[n + 1]?.exact;
    const parts = points.flatMap((from, n) => (proven(n) ? [`M${from}L${points[n + 1]}`] : []));
    add("path", "azr-proven", { d: parts.join("") });
    this.mark = add("line", "azr-mark", { y1: -1.08 * HALF, y2: 1.08 * HALF });
    // A line without length has round ends: a disc, however the picture is stretched.
    for (const n of review?.mistakes ?? [])
      add("path", "azr-mistake", { d: `M${points[n + 1]}h0` });
    const [first, second] = game.sides;
    this.axis.textContent = `Top: ${first} wins${scale > 1 ? ` by ${Number(scale.toFixed(1))}` : ""}. Bottom: ${second} wins.${
      review ? " Thick: proven. Dots: mistakes." : ""}`;
  }

  get isShown() {
    return !this.box.hidden;
  }

  show(ply, words) {
    this.svg.setAttribute("aria-valuenow", ply);
    this.svg.setAttribute("aria-valuetext", words);
    for (const end of ["x1", "x2"]) this.mark?.setAttribute(end, ply);
    this.ply = ply;
  }

  follow(event) {
    const { left, width } = this.svg.getBoundingClientRect();
    this.go(Math.round(((event.clientX - left) / width) * this.last));
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 };
    const to = { Home: 0, End: this.last }[event.key] ?? (steps[event.key] && this.ply + steps[event.key]);
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(to);
  }
}

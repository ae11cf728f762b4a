// The picture of the board: cells and what stands on them, marks, and moves that are not made yet.
// It shows and is clicked; what a click means is decided elsewhere.

import { allowDragging } from "./drag.js";
import { fill, svgElement, svgText } from "./elements.js";

const LAYERS = ["under", "names", "cells", "candidates", "marks", "labels", "lit", "ghosts", "hits"];

export class Surface {
  // `on` has what the cells do: click(index), key(event, index), focus(index), drop(from, to) and
  // canDrag(index).
  constructor(frame, view, on) {
    this.on = on;
    this.view = view;
    this.flipped = false;
    const shape = view.round ? "azb-round" : "azb-square";
    this.svg = svgElement("svg", { viewBox: view.box.join(" "), role: "group", class: shape });
    this.layers = {};
    for (const name of LAYERS) this.layers[name] = this.svg.appendChild(svgElement("g", { class: `azb-${name}` }));
    this.hits = view.cells.map((cell, index) => this.buildHit(cell, index));
    for (const name of ["ghosts", "lit"]) this.layers[name].ariaHidden = "true";
    frame.replaceChildren(this.svg);
    allowDragging(this.svg, {
      cellOf: (element) => { const n = this.hits.indexOf(element); return n < 0 ? undefined : n; },
      canDrag: (index) => this.isStone(index) && on.canDrag(index),
      stone: (index) => this.stones()[index],
      drop: on.drop,
    });
  }

  buildHit(cell, index) {
    const { view } = this;
    const half = view.pitch / 2;
    const size = view.round
      ? { r: half * 0.96 }
      : { x: -half + 1, y: -half + 1, width: 2 * half - 2, height: 2 * half - 2, rx: 3 };
    const shape = view.round ? "circle" : "rect";
    const hit = svgElement(shape, {
      ...size, class: "azb-hit", role: "button", tabindex: -1, "data-square": cell[0],
    });
    hit.addEventListener("click", () => this.on.click(index));
    hit.addEventListener("keydown", (event) => this.on.key(event, index));
    hit.addEventListener("focus", () => this.on.focus(index));
    const place = this.layers.hits.appendChild(svgElement("g"));
    place.append(hit, svgElement(shape, { ...size, class: "azb-focus" }));
    return hit;
  }

  // The elements of what stands on the cells.
  stones() {
    return [...this.layers.cells.children].map((each) => each.firstElementChild);
  }

  isStone(index) {
    const content = this.view.cells[index][4];
    return Boolean(content) && content !== "dead";
  }

  // Where a point of the board is drawn.
  place(x, y) {
    const [middleX, middleY] = this.view.centre;
    return this.flipped ? [2 * middleX - x, 2 * middleY - y] : [x, y];
  }

  // The middle of a cell.
  middle(index) {
    const [, x, y] = this.view.cells[index];
    return this.place(x, y);
  }

  // ---- what stands on the board ----

  drawBoard(view, { flipped, withCandidates }) {
    this.view = view;
    this.flipped = flipped;
    const turned = flipped ? `rotate(180 ${view.centre.join(" ")})` : "";
    fill(this.layers.under, view.under, turned);
    fill(this.layers.marks, view.marks, turned);
    this.layers.cells.innerHTML = view.cells
      .map(([, x, y, picture]) => {
        const [toX, toY] = this.place(x, y);
        const moved = flipped ? ` transform="translate(${toX - x} ${toY - y})"` : "";
        return `<g${moved}><g>${picture}</g></g>`; // the inner one moves
      })
      .join("");
    const texts = (group, list, size) => group.replaceChildren(
      ...list.map(([text, x, y]) => svgText(text, ...this.place(x, y), size)));
    texts(this.layers.labels, view.labels, 15);
    texts(this.layers.names, view.names, 16);
    this.layers.candidates.replaceChildren(
      ...(withCandidates ? view.candidates.flatMap((each) => this.candidateTexts(each)) : []));
    this.svg.setAttribute("aria-label", view.status);
    this.hits.forEach((hit, index) => {
      hit.parentNode.setAttribute("transform", `translate(${this.middle(index).join(" ")})`);
    });
  }

  candidateTexts([index, numbers, ink]) {
    const { pitch, candidateHeight, candidatePlaces } = this.view;
    const [x, y] = this.middle(index);
    const size = (pitch * candidateHeight) / 0.75; // fonts are higher than their capitals
    return numbers.map((number) => {
      const [right, down] = candidatePlaces[number - 1];
      const text = svgText(number, x + right * pitch, y + down * pitch, size);
      text.style.fill = ink; // the style sheet has a colour for all other texts
      return text;
    });
  }

  // ---- marks ----

  // `next` are the cells that can be clicked, `chosen` those that were, `forbidding` those that a
  // refusal names.
  drawLit({ next, chosen, forbidding, withCandidates }) {
    const { cells, candidates, names, won, left, about } = this.view;
    // What is written on an empty cell reaches into its corners.
    const numbered = withCandidates ? candidates.map((each) => each[0]) : [];
    const isWritten = (index) => numbered.includes(index)
      || names.some(([, x, y]) => x === cells[index][1] && y === cells[index][2]);
    const possible = (index) => {
      if (this.isStone(index)) return this.mark(index, "azb-ring", 0.46);
      return isWritten(index) ? this.mark(index, "azb-border", 0.45) : this.mark(index, "azb-dot", 0.12);
    };
    const marks = (indices, name, size) => (indices ?? []).map((index) => this.mark(index, name, size));
    this.layers.lit.replaceChildren(
      ...marks(won, "azb-won", 0.46), ...marks(left, "azb-left", 0.4), ...marks(about, "azb-about", 0.46),
      ...next.map(possible), ...marks(forbidding, "azb-forbids", 0.46), ...marks(chosen, "azb-chosen", 0.46));
    this.hits.forEach((hit, index) => {
      hit.classList.toggle("azb-legal", next.includes(index));
      hit.classList.toggle("azb-drag", next.includes(index) && this.isStone(index));
      hit.setAttribute("aria-pressed", String(chosen.includes(index)));
    });
  }

  // Every mark has a white edge, so that it stands out on light and on dark cells.
  mark(index, name, size) {
    const [x, y] = this.middle(index);
    const r = this.view.pitch * size;
    const shape = (kind) => (name === "azb-border"
      ? svgElement("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 3, class: kind })
      : svgElement("circle", { cx: x, cy: y, r, class: kind }));
    const group = svgElement("g");
    group.append(shape("azb-edge"), shape(name));
    return group;
  }

  // ---- moves that have not been made ----

  // The best move first, which is drawn on top.
  drawGhosts(moves) {
    this.layers.ghosts.replaceChildren(...moves.map((move, rank) => this.ghost(move, rank)).reverse());
  }

  ghost([, label, [path]], rank) {
    const { pitch } = this.view;
    const ends = path.map((cell) => this.middle(cell));
    const group = svgElement("g", { class: rank ? "azb-ghost azb-other" : "azb-ghost" });
    if (ends.length === 1) {
      const [[x, y]] = ends;
      group.append(svgElement("circle", { cx: x, cy: y, r: pitch * 0.36 }), svgText(label, x, y, pitch * 0.42));
    } else if (ends.length) {
      const d = arrow(ends[0], ends.at(-1), pitch);
      group.append(...["azb-arrow-edge", "azb-arrow"].map((name) => svgElement("path", { d, class: name })));
    }
    return group;
  }

  // ---- the keyboard ----

  // The nearest cell in a direction; of two that are equally near, the one from which the opposite
  // key leads back.
  neighbour(from, [right, down]) {
    const [x, y] = this.middle(from);
    let best = from;
    let least = Infinity;
    this.view.cells.forEach((_, index) => {
      const [toX, toY] = this.middle(index);
      const along = (toX - x) * right + (toY - y) * down;
      const aside = (toX - x) * down - (toY - y) * right;
      const distance = along + Math.abs(aside) - aside / 1000;
      if (along > this.view.pitch * 0.3 && distance < least) {
        least = distance;
        best = index;
      }
    });
    return best;
  }
}

// An arrow from one place to another, which leaves the middles of both free.
function arrow([x, y], [toX, toY], pitch) {
  const angle = Math.atan2(toY - y, toX - x);
  const [right, down] = [Math.cos(angle), Math.sin(angle)];
  const at = (along, aside) => `${toX - right * along - down * aside} ${toY - down * along + right * aside}`;
  const [tip, head, wing] = [pitch * 0.12, pitch * 0.38, pitch * 0.17];
  return `M${x + right * pitch * 0.2} ${y + down * pitch * 0.2}L${at(tip, 0)}M${at(head, wing)}L${at(tip, 0)}L${at(head, -wing)}`;
}

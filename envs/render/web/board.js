// A board to look at and to play on, for any game: in a page, in a notebook, in a replay.
//
//   const board = mount(element, host);
//   board.show(view);
//
// `view` is what azumaya.envs.render.board.view_of returns, with these additions of the host:
// `yours` (whether the person may move now) and `canUndo`, in a notebook also `changes`.
// In a page of `azumaya serve` also `left`, `won` and `about`, the cells that the last move has left,
// that have won, and of which the page speaks.
// `host` says what the board may ask for; a function that is absent has no button:
//   play(name)             make a move
//   explain(cells, label)  resolves to sentences: why these cells, with this label, make no move
//   undo(), hint()         take a move back; resolves to {summary, moves: [{move, verdict}]}
// `host.flipped` shows the board from the other side at first.
// `point(moves)` draws moves that have not been made: arrows, or ghosts of numbers.
//
// Nothing here knows a game. A move is [name, label, paths]: it is made by clicking the cells of one
// of its paths in order and, where several moves share a path, choosing a label such as a number.

import { allowDragging } from "./drag.js";
import { animateMove } from "./motion.js";

const SVG = "http://www.w3.org/2000/svg";
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const GHOSTS = 3; // moves of a hint that are drawn at once

export function mount(root, host = {}) {
  const board = new Board(root, host);
  return {
    show: (view) => board.show(view),
    say: (text) => board.say(text),
    point: (moves) => board.point(moves),
    focus: () => board.focus(),
  };
}

class Board {
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.view = null;
    this.chosen = []; // the cells clicked so far
    this.forbidding = []; // the cells that a refusal names
    this.label = ""; // the label chosen before any cell
    this.known = []; // labels seen so far, so that their buttons stay where they are
    this.flipped = Boolean(host.flipped);
    this.withCandidates = false;
    this.focused = 0;
    this.pointed = []; // moves that are drawn without being made, the best first
    this.hinted = null; // the view whose hint is shown
    this.hinting = null; // the view whose hint is being searched for
    this.build(root);
  }

  // ---- the page ----

  build(root) {
    root.replaceChildren();
    root.classList.add("azb");
    this.status = add(root, "p", "azb-status", { role: "status", "aria-live": "polite" });
    const main = add(root, "div", "azb-main");
    this.frame = add(main, "div", "azb-frame");
    this.side = add(main, "div", "azb-side");
    this.pad = add(root, "div", "azb-pad", { role: "group", "aria-label": "Number to place" });
    this.extra = add(root, "div", "azb-extra", { role: "group", "aria-label": "Moves" });
    this.said = add(root, "p", "azb-said", { role: "status", "aria-live": "polite" });
    this.hints = add(root, "ol", "azb-hints", { "aria-label": "Hint", hidden: "" });
    const tools = add(root, "div", "azb-tools", { role: "toolbar", "aria-label": "Board" });
    this.tools = {
      undo: this.host.undo && button(tools, "Undo", "u", () => this.undo()),
      hint: this.host.hint && button(tools, "Hint", "h", () => this.hint()),
      candidates: button(tools, "Candidates", "c", () => this.toggleCandidates()),
      flip: button(tools, "Flip", "f", () => this.flip()),
    };
  }

  buildBoard(view) {
    const shape = view.round ? "azb-round" : "azb-square";
    this.svg = svgElement("svg", { viewBox: view.box.join(" "), role: "group", class: shape });
    const layer = (name) => this.svg.appendChild(svgElement("g", { class: `azb-${name}` }));
    this.layers = {};
    for (const name of ["under", "names", "cells", "candidates", "marks", "labels", "ghosts", "lit", "hits"])
      this.layers[name] = layer(name);
    this.hits = view.cells.map((cell, index) => this.buildHit(view, cell, index));
    for (const name of ["ghosts", "lit"]) this.layers[name].ariaHidden = "true";
    this.focused = Math.min(this.focused, this.hits.length - 1);
    this.frame.replaceChildren(this.svg);
    allowDragging(this.svg, {
      cellOf: (element) => { const n = this.hits.indexOf(element); return n < 0 ? undefined : n; },
      canDrag: (index) => this.isStone(index) && this.matching([index]).length > 0,
      stone: (index) => this.stones()[index],
      drop: (from, to) => { this.clear(); this.click(from); this.click(to); },
    });
  }

  buildHit(view, cell, index) {
    const half = view.pitch / 2;
    const size = view.round
      ? { r: half * 0.96 }
      : { x: -half + 1, y: -half + 1, width: 2 * half - 2, height: 2 * half - 2, rx: 3 };
    const shape = view.round ? "circle" : "rect";
    const hit = svgElement(shape, {
      ...size, class: "azb-hit", role: "button", tabindex: -1, "data-square": cell[0],
    });
    hit.addEventListener("click", () => this.click(index));
    hit.addEventListener("keydown", (event) => this.key(event, index));
    hit.addEventListener("focus", () => this.focusOn(index, false));
    const place = this.layers.hits.appendChild(svgElement("g"));
    place.append(hit, svgElement(shape, { ...size, class: "azb-focus" }));
    return hit;
  }

  // ---- what is shown ----

  show(view) {
    let before = this.view;
    this.view = view;
    this.chosen = [];
    this.forbidding = [];
    this.label = "";
    this.pointed = [];
    const names = view.cells.map((cell) => cell[0]).join(" ");
    if (this.cellNames !== names) {
      this.cellNames = names;
      this.known = [];
      before = null;
      this.buildBoard(view);
    }
    const labels = this.moves.filter((move) => !hasButton(move) && move[1]).map((move) => move[1]);
    this.known = [...new Set([...this.known, ...labels])].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }));
    this.say("");
    this.draw();
    const { cells } = view;
    animateMove(before, view, this.stones(), (index) => this.place(cells[index][1], cells[index][2]));
  }

  // The elements of what stands on the cells.
  stones() {
    return [...this.layers.cells.children].map((each) => each.firstElementChild);
  }

  isStone(index) {
    const content = this.view.cells[index][4];
    return Boolean(content) && content !== "dead";
  }

  get moves() {
    return this.view.yours === false ? [] : this.view.moves || [];
  }

  draw() {
    const { view } = this;
    const held = this.root.getRootNode().activeElement;
    const isOurs = this.root.contains(held);
    this.status.textContent = view.status;
    this.drawBoard(view);
    this.layers.ghosts.replaceChildren(...this.pointed.map((move, n) => this.ghost(move, n)).reverse());
    this.drawLit(view);
    this.drawSide(view);
    this.drawPad();
    this.drawExtra();
    if (this.tools.undo) this.tools.undo.disabled = !view.canUndo;
    if (this.tools.hint) this.tools.hint.disabled = !this.moves.length;
    this.tools.candidates.hidden = !view.candidates.length && !this.withCandidates;
    this.tools.candidates.setAttribute("aria-pressed", String(this.withCandidates));
    this.tools.flip.setAttribute("aria-pressed", String(this.flipped));
    this.hints.hidden = this.hinted !== view;
    // Where a button that had the keyboard's focus is gone, the board takes it.
    if (isOurs && (!held.isConnected || held.disabled || held.closest("[hidden]"))) this.focus();
  }

  drawBoard(view) {
    const turned = this.flipped ? `rotate(180 ${view.centre.join(" ")})` : "";
    fill(this.layers.under, view.under, turned);
    fill(this.layers.marks, view.marks, turned);
    this.layers.cells.innerHTML = view.cells
      .map(([, x, y, picture]) => {
        const [toX, toY] = this.place(x, y);
        const turned = this.flipped ? ` transform="translate(${toX - x} ${toY - y})"` : "";
        return `<g${turned}><g>${picture}</g></g>`; // the inner one moves
      })
      .join("");
    const texts = (group, list, size) => group.replaceChildren(
      ...list.map(([text, x, y]) => svgText(text, ...this.place(x, y), size)));
    texts(this.layers.labels, view.labels, 15);
    texts(this.layers.names, view.names, 16);
    this.layers.candidates.replaceChildren(
      ...(this.withCandidates ? view.candidates.flatMap((each) => this.candidateTexts(each)) : []));
    this.svg.setAttribute("aria-label", view.status);
    this.hits.forEach((hit, index) => {
      const [x, y] = this.place(view.cells[index][1], view.cells[index][2]);
      hit.parentNode.setAttribute("transform", `translate(${x} ${y})`);
      hit.setAttribute("tabindex", index === this.focused ? 0 : -1);
      hit.setAttribute("aria-label", this.spoken(index));
      hit.setAttribute("aria-pressed", String(this.chosen.includes(index)));
    });
  }

  candidateTexts([index, numbers, ink]) {
    const view = this.view;
    const [x, y] = this.place(view.cells[index][1], view.cells[index][2]);
    const { pitch } = view;
    const size = (pitch * view.candidateHeight) / 0.75; // fonts are higher than their capitals
    return numbers.map((number) => {
      const [right, down] = view.candidatePlaces[number - 1];
      const text = svgText(number, x + right * pitch, y + down * pitch, size);
      text.style.fill = ink; // the style sheet has a colour for all other texts
      return text;
    });
  }

  drawLit(view) {
    const { pitch, cells } = view;
    // Every mark has a white edge, so that it stands out on light and on dark cells.
    const mark = (index, name, size) => {
      const [x, y] = this.place(cells[index][1], cells[index][2]);
      const r = pitch * size;
      const shape = (kind) => (name === "azb-border"
        ? svgElement("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 3, class: kind })
        : svgElement("circle", { cx: x, cy: y, r, class: kind }));
      const group = svgElement("g");
      group.append(shape("azb-edge"), shape(name));
      return group;
    };
    const next = [...this.targets()];
    // What is written on an empty cell reaches into its corners.
    const numbered = this.withCandidates ? view.candidates.map((each) => each[0]) : [];
    const isWritten = (index) => numbered.includes(index)
      || view.names.some(([, x, y]) => x === cells[index][1] && y === cells[index][2]);
    const possible = (index) => {
      if (this.isStone(index)) return mark(index, "azb-ring", 0.46);
      return isWritten(index) ? mark(index, "azb-border", 0.45) : mark(index, "azb-dot", 0.12);
    };
    this.layers.lit.replaceChildren(
      ...(view.won ?? []).map((index) => mark(index, "azb-won", 0.46)),
      ...(view.left ?? []).map((index) => mark(index, "azb-left", 0.4)),
      ...(view.about ?? []).map((index) => mark(index, "azb-about", 0.46)),
      ...next.map(possible),
      ...this.forbidding.map((index) => mark(index, "azb-forbids", 0.46)),
      ...this.chosen.map((index) => mark(index, "azb-chosen", 0.46)));
    this.hits.forEach((hit, index) => {
      hit.classList.toggle("azb-legal", next.includes(index));
      hit.classList.toggle("azb-drag", next.includes(index) && this.isStone(index));
    });
  }

  // ---- moves that have not been made ----

  point(moves) {
    this.pointed = moves;
    this.draw();
  }

  ghost([, label, [path]], rank) {
    const { pitch, cells } = this.view;
    const ends = path.map((cell) => this.place(cells[cell][1], cells[cell][2]));
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

  drawSide(view) {
    this.side.replaceChildren();
    for (const note of view.notes) add(this.side, "p", "azb-note").textContent = note;
    for (const [label, pieces] of view.trays) {
      const tray = add(this.side, "div", "azb-tray", { role: "group", "aria-label": label });
      add(tray, "span", "azb-tray-name").textContent = label;
      const row = add(tray, "div", "azb-pieces");
      for (const [picture, words] of pieces) {
        const piece = add(row, "span", "azb-piece", { role: "img", "aria-label": words });
        piece.innerHTML = picture;
      }
    }
    this.side.hidden = !this.side.childElementCount;
  }

  drawPad() {
    this.pad.hidden = this.known.length < 2 || !this.moves.length;
    const possible = new Set(this.matching(this.chosen, "").map((move) => move[1]));
    const buttons = keepButtons(this.pad, this.known, (label) => this.choose(label));
    this.known.forEach((label, n) => {
      buttons[n].setAttribute("aria-pressed", String(this.label === label));
      buttons[n].classList.toggle("azb-faint", !possible.has(label));
    });
  }

  drawExtra() {
    const done = this.chosen.length ? this.complete(this.chosen) : [];
    const isReady = (move) => done.includes(move) && (hasButton(move) || !this.known.includes(move[1]));
    const shown = this.moves.filter((move) => hasButton(move) || isReady(move));
    const names = shown.map((move) => move[0]);
    keepButtons(this.extra, names, (name) => this.play(name)).forEach((each, n) => {
      each.dataset.move = names[n];
      each.classList.toggle("azb-ready", isReady(shown[n]));
    });
    this.extra.hidden = !shown.length;
  }

  spoken(index) {
    const [name, , , , content, region] = this.view.cells[index];
    const words = [name, content || "empty"];
    if (region) words.push(region);
    if ((this.view.last || []).includes(index)) words.push("last move");
    if ((this.view.won || []).includes(index)) words.push("has won");
    if ((this.view.left || []).includes(index)) words.push("the last move came from here");
    if ((this.view.about || []).includes(index)) words.push("marked");
    if (this.chosen.includes(index)) words.push("chosen");
    if (this.forbidding.includes(index)) words.push("forbids the move");
    const labels = this.complete([...this.chosen, index]).map((move) => move[1]).filter(Boolean);
    if (labels.length) words.push(`possible: ${labels.join(" ")}`);
    else if (this.matching([...this.chosen, index]).length) words.push("possible");
    return words.join(", ");
  }

  place(x, y) {
    const [middleX, middleY] = this.view.centre;
    return this.flipped ? [2 * middleX - x, 2 * middleY - y] : [x, y];
  }

  say(text) {
    this.said.textContent = text;
  }

  // ---- moves by cells and labels ----

  matching(cells, label = this.label) {
    return this.moves.filter((move) => (!label || move[1] === label)
      && move[2].some((path) => path.length && begins(path, cells)));
  }

  complete(cells, label = this.label) {
    return this.matching(cells, label).filter((move) =>
      move[2].some((path) => path.length === cells.length && begins(path, cells)));
  }

  targets() {
    const next = new Set();
    for (const move of this.matching(this.chosen)) {
      const path = move[2].find((each) => each.length > this.chosen.length && begins(each, this.chosen));
      if (path) next.add(path[this.chosen.length]);
    }
    return next;
  }

  click(index) {
    this.focusOn(index, false);
    this.forbidding = [];
    if (!this.moves.length) return;
    const again = this.chosen.at(-1) === index;
    if (again) {
      const done = this.complete(this.chosen);
      if (this.chosen.length > 1 && done.length === 1) this.play(done[0][0]);
      else this.clear();
      return;
    }
    let cells = [...this.chosen, index];
    if (!this.matching(cells).length && this.chosen.length) {
      if (!this.beginsAnew(index)) return this.refuse(cells);
      cells = [index];
    }
    if (!this.matching(cells).length) return this.refuse(cells);
    this.chosen = cells;
    this.settle();
  }

  // Whether a click that does not go on from the cells chosen begins another move. While a stone is
  // to go somewhere, a cell on its own does not: it may be where another stone can go.
  beginsAnew(index) {
    const least = this.targets().size ? 2 : 1;
    return this.matching([index]).some((move) =>
      move[2].some((path) => path[0] === index && path.length >= least));
  }

  settle() {
    const done = this.complete(this.chosen);
    const longer = this.matching(this.chosen).length > done.length;
    if (done.length === 1 && !longer) return this.play(done[0][0]);
    this.say(done.length === 1 && this.chosen.length > 1
      ? `${done[0][0]}: click the last cell again to play it, or keep clicking for a longer move` : "");
    this.draw();
  }

  choose(label) {
    const done = this.complete(this.chosen, label);
    const choosing = this.chosen.length && this.complete(this.chosen, "").some((move) => move[1]);
    if (choosing && done.length === 1) return this.play(done[0][0]);
    if (choosing && !done.length) return this.refuse(this.chosen, label);
    this.label = this.label === label ? "" : label;
    if (!this.matching(this.chosen).length) this.chosen = [];
    this.draw();
  }

  clear() {
    this.chosen = [];
    this.forbidding = [];
    this.label = "";
    this.say("");
    this.draw();
  }

  play(name) {
    this.clear();
    if (this.host.play) this.host.play(name);
  }

  async refuse(cells, label = this.label) {
    const names = cells.map((index) => this.view.cells[index][0]).join(" ");
    const { view } = this;
    const chosen = (this.chosen = []);
    this.forbidding = [];
    this.draw();
    const reasons = this.host.explain ? await this.host.explain(cells, label) : [];
    if (this.view !== view || this.chosen !== chosen) return; // the person has gone on
    const reason = reasons[0] ?? `No move goes from or to ${names}.`;
    const named = this.view.cells.flatMap(([name], index) =>
      (new RegExp(`\\b${name}\\b`).test(reason) && !cells.includes(index) ? [index] : []));
    this.forbidding = reasons.length ? named : [];
    this.draw();
    this.say(reason);
  }

  // ---- the other buttons ----

  undo() {
    if (this.host.undo && this.view.canUndo) this.host.undo();
  }

  flip() {
    this.flipped = !this.flipped;
    this.draw();
  }

  toggleCandidates() {
    this.withCandidates = !this.withCandidates;
    this.draw();
  }

  async hint() {
    const { view } = this;
    if (!this.host.hint || !this.moves.length || this.hinting === view) return;
    this.hinting = view;
    this.say("Searching...");
    try {
      const hint = await this.host.hint();
      if (this.view === view) this.showHint(hint); // otherwise it is about another position
    } finally {
      if (this.hinting === view) this.hinting = null;
    }
  }

  showHint(hint) {
    this.hinted = this.view;
    this.hints.replaceChildren();
    this.hints.hidden = false;
    this.say(hint.summary);
    const buttons = hint.moves.map(({ move, verdict }) => {
      const line = add(this.hints, "li");
      const made = button(line, move, "", () => this.pressHint(move, made, buttons));
      add(line, "span", `azb-verdict azb-${verdict.split(" ")[0]}`).textContent = verdict;
      return made;
    });
    const drawn = hint.moves.slice(0, GHOSTS).map(({ move }) => move);
    this.point(drawn.flatMap((name) => this.moves.filter((move) => move[0] === name)));
  }

  // The first press shows the move, the second one makes it.
  pressHint(name, pressed, buttons) {
    if (pressed.getAttribute("aria-pressed") === "true") return this.play(name);
    for (const each of buttons) each.setAttribute("aria-pressed", each === pressed);
    this.say(`${name}: press again to play it`);
    this.point(this.moves.filter((move) => move[0] === name));
  }

  // ---- the keyboard ----

  focus() {
    this.hits[this.focused].focus({ preventScroll: true });
  }

  focusOn(index, move = true) {
    this.hits[this.focused]?.setAttribute("tabindex", -1);
    this.focused = index;
    this.hits[index].setAttribute("tabindex", 0);
    if (move) this.hits[index].focus();
  }

  key(event, index) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const commands = {
      Enter: () => this.click(index), " ": () => this.click(index), Escape: () => this.clear(),
      u: () => this.undo(), h: () => this.hint(), c: () => this.toggleCandidates(), f: () => this.flip(),
    };
    const command = commands[key] || commands[key.toLowerCase()]; // as with Shift or Caps Lock
    const act = ARROWS[key] ? () => this.step(index, ARROWS[key])
      : this.known.includes(key) ? () => this.type(index, key) : command;
    if (!act) return;
    event.preventDefault();
    if (ARROWS[key] || !event.repeat) act(); // a key that is held down only goes from cell to cell
  }

  // A label typed on a cell: places it there.
  type(index, label) {
    if (!this.moves.length) return;
    const cells = this.chosen.at(-1) === index ? this.chosen : [...this.chosen, index];
    const done = this.complete(cells, label);
    if (done.length === 1) this.play(done[0][0]);
    else if (this.matching(cells, label).length) this.choose(label);
    else this.refuse(cells, label);
  }

  // To the nearest cell in a direction; of two that are equally near, to the one from which the
  // opposite key leads back.
  step(from, [right, down]) {
    const [x, y] = this.place(this.view.cells[from][1], this.view.cells[from][2]);
    let best = from;
    let least = Infinity;
    this.view.cells.forEach(([, otherX, otherY], index) => {
      const [toX, toY] = this.place(otherX, otherY);
      const along = (toX - x) * right + (toY - y) * down;
      const aside = (toX - x) * down - (toY - y) * right;
      const distance = along + Math.abs(aside) - aside / 1000;
      if (along > this.view.pitch * 0.3 && distance < least) {
        least = distance;
        best = index;
      }
    });
    this.focusOn(best);
  }
}

// ---- small helpers ----

// An arrow from one place to another, which leaves the middles of both free.
function arrow([x, y], [toX, toY], pitch) {
  const angle = Math.atan2(toY - y, toX - x);
  const [right, down] = [Math.cos(angle), Math.sin(angle)];
  const at = (along, aside) => `${toX - right * along - down * aside} ${toY - down * along + right * aside}`;
  const [tip, head, wing] = [pitch * 0.12, pitch * 0.38, pitch * 0.17];
  return `M${x + right * pitch * 0.2} ${y + down * pitch * 0.2}L${at(tip, 0)}M${at(head, wing)}L${at(tip, 0)}L${at(head, -wing)}`;
}

function begins(path, cells) {
  return cells.every((cell, n) => path[n] === cell);
}

function hasButton(move) {
  return move[2].some((path) => !path.length);
}

export function add(parent, tag, name = "", attributes = {}) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

export function button(parent, text, key, act) {
  const made = add(parent, "button", "azb-button", { type: "button" });
  made.textContent = text;
  if (key) made.title = `${text} (key ${key.toUpperCase()} on the board)`;
  made.addEventListener("click", act);
  return made;
}

// A button for each name. Those there already stay the same elements, so that they keep the focus.
function keepButtons(parent, names, act) {
  const old = new Map([...parent.children].map((each) => [each.textContent, each]));
  const buttons = names.map((name) => old.get(name) ?? button(parent, name, "", () => act(name)));
  for (const each of old.values()) if (!buttons.includes(each)) each.remove();
  buttons.forEach((each, n) => {
    if (parent.children[n] !== each) parent.insertBefore(each, parent.children[n]);
  });
  return buttons;
}

export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function svgText(text, x, y, size) {
  const made = svgElement("text", { x, y, "font-size": size });
  made.textContent = text;
  return made;
}

function fill(group, content, transform) {
  group.innerHTML = content;
  if (transform) group.setAttribute("transform", transform);
  else group.removeAttribute("transform");
}

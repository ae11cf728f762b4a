// A board to look at and to play on, for any game: in a page, in a notebook, in a replay.
//
//   const board = mount(element, host);
//   board.show(view);
//
// `view` is what azumaya.envs.render.board.view_of returns, with these additions of the host:
// `yours` (whether the person may move now) and `canUndo`, in a notebook also `changes`.
// In a page of `azumaya serve` also `task`, what the mover is to do, and `left`, `won` and `about`,
// the cells that the last move has left, that have won, and of which the page speaks.
// `host` says what the board may ask for; a function that is absent has no button:
//   play(name)             make a move
//   explain(cells, label)  resolves to sentences: why these cells, with this label, make no move
//   undo(), hint()         take a move back; resolves to {summary, moves: [{move, verdict}]}
// `host.flipped` shows the board from the other side at first.
// `point(moves)` draws moves that have not been made: arrows, or ghosts of numbers.
//
// Nothing here knows a game.

import { Choice } from "./choosing.js";
import { add, button, keepButtons } from "./elements.js";
import { buildHints } from "./hints.js";
import { animateMove } from "./motion.js";
import { Surface } from "./surface.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

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
    this.choice = new Choice();
    this.forbidding = []; // the cells that a refusal names
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
    this.task = add(root, "p", "azb-task");
    const main = add(root, "div", "azb-main");
    this.frame = add(main, "div", "azb-frame");
    this.side = add(main, "div", "azb-side");
    this.pad = add(root, "div", "azb-pad", { role: "group", "aria-label": "Number to place" });
    this.extra = add(root, "div", "azb-extra", { role: "group", "aria-label": "Moves" });
    this.said = add(root, "p", "azb-said", { role: "status", "aria-live": "polite" });
    this.hints = buildHints(root, {
      say: (text) => this.say(text),
      play: (name) => this.play(name),
      point: (names) => this.point(names.flatMap((name) => this.choice.moves.filter((move) => move[0] === name))),
    });
    const tools = add(root, "div", "azb-tools", { role: "toolbar", "aria-label": "Board" });
    this.tools = {
      undo: this.host.undo && button(tools, "Undo", "u", () => this.undo()),
      hint: this.host.hint && button(tools, "Hint", "h", () => this.hint()),
      candidates: button(tools, "Candidates", "c", () => this.toggleCandidates()),
      flip: button(tools, "Flip", "f", () => this.flip()),
    };
  }

  buildSurface(view) {
    this.surface = new Surface(this.frame, view, {
      click: (index) => this.click(index),
      key: (event, index) => this.key(event, index),
      focus: (index) => this.focusOn(index, false),
      canDrag: (index) => this.choice.matching([index]).length > 0,
      drop: (from, to) => { this.clear(); this.click(from); this.click(to); },
    });
    this.focused = Math.min(this.focused, view.cells.length - 1);
  }

  // ---- what is shown ----

  show(view) {
    const names = view.cells.map((cell) => cell[0]).join(" ");
    const isOtherBoard = this.cellNames !== names;
    const before = isOtherBoard ? null : this.view;
    this.view = view;
    this.cellNames = names;
    this.forbidding = [];
    this.pointed = [];
    this.choice.begin(view.yours === false ? [] : view.moves || [], isOtherBoard);
    if (isOtherBoard) this.buildSurface(view);
    this.say("");
    this.draw();
    animateMove(before, view, this.surface.stones(), (index) => this.surface.middle(index));
  }

  draw() {
    const { view, surface, choice, withCandidates } = this;
    const held = this.root.getRootNode().activeElement;
    const isOurs = this.root.contains(held);
    this.status.textContent = view.status;
    this.task.textContent = view.task ?? "";
    this.task.hidden = !view.task || view.task === view.status;
    surface.drawBoard(view, this);
    surface.drawGhosts(this.pointed);
    surface.drawLit({
      next: [...choice.targets()], chosen: choice.cells, forbidding: this.forbidding, withCandidates,
    });
    surface.hits.forEach((hit, index) => {
      hit.setAttribute("tabindex", index === this.focused ? 0 : -1);
      hit.setAttribute("aria-label", this.spoken(index));
    });
    this.drawSide(view);
    this.drawPad();
    this.drawExtra();
    if (this.tools.undo) this.tools.undo.disabled = !view.canUndo;
    if (this.tools.hint) this.tools.hint.disabled = !choice.moves.length;
    this.tools.candidates.hidden = !view.candidates.length && !withCandidates;
    this.tools.candidates.setAttribute("aria-pressed", String(withCandidates));
    this.tools.flip.setAttribute("aria-pressed", String(this.flipped));
    this.hints.list.hidden = this.hinted !== view;
    // Where a button that had the keyboard's focus is gone, the board takes it.
    if (isOurs && (!held.isConnected || held.disabled || held.closest("[hidden]"))) this.focus();
  }

  point(moves) {
    this.pointed = moves;
    this.draw();
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
    const { known, label, moves, cells } = this.choice;
    this.pad.hidden = !known.length || !moves.length;
    const possible = new Set(this.choice.matching(cells, "").map((move) => move[1]));
    const buttons = keepButtons(this.pad, known, (each) => this.choose(each));
    known.forEach((each, n) => {
      buttons[n].setAttribute("aria-pressed", String(label === each));
      buttons[n].classList.toggle("azb-faint", !possible.has(each));
    });
  }

  drawExtra() {
    const shown = this.choice.buttons();
    const names = shown.map(({ name }) => name);
    keepButtons(this.extra, names, (name) => this.play(name)).forEach((each, n) => {
      each.dataset.move = names[n];
      each.classList.toggle("azb-ready", shown[n].isReady);
    });
    this.extra.hidden = !shown.length;
  }

  spoken(index) {
    const { view, choice } = this;
    const [name, , , , content, region] = view.cells[index];
    const words = [name, content || "empty"];
    if (region) words.push(region);
    if ((view.last || []).includes(index)) words.push("last move");
    if ((view.won || []).includes(index)) words.push("has won");
    if ((view.left || []).includes(index)) words.push("the last move came from here");
    if ((view.about || []).includes(index)) words.push("marked");
    if (choice.cells.includes(index)) words.push("chosen");
    if (this.forbidding.includes(index)) words.push("forbids the move");
    const cells = [...choice.cells, index];
    const labels = choice.complete(cells).map((move) => move[1]).filter(Boolean);
    if (labels.length) words.push(`possible: ${labels.join(" ")}`);
    else if (choice.matching(cells).length) words.push("possible");
    return words.join(", ");
  }

  say(text) {
    this.said.textContent = text;
  }

  // ---- moves by cells and labels ----

  click(index) {
    const { choice } = this;
    this.focusOn(index, false);
    this.forbidding = [];
    if (!choice.moves.length) return;
    if (choice.cells.at(-1) === index) {
      const [done, ...others] = choice.complete();
      const isMeant = choice.cells.length > 1 || (done && choice.isLabelled(done) && !choice.goesOn());
      if (isMeant && done && !others.length) this.play(done[0]);
      else this.clear();
      return;
    }
    const cells = choice.extended(index);
    if (!cells) return this.refuse([...choice.cells, index]);
    choice.cells = cells;
    this.settle();
  }

  settle() {
    const { choice } = this;
    const done = choice.complete();
    const [only] = done.length === 1 ? done : [];
    const asksFirst = only && choice.cells.length === 1 && choice.isLabelled(only) && !choice.label;
    if (only && !choice.goesOn() && !asksFirst) return this.play(only[0]);
    if (only && asksFirst && !choice.goesOn()) this.say(`Only ${only[1]} fits here: choose it, or the cell again, to play ${only[0]}`);
    else if (only && choice.cells.length > 1) this.say(`${only[0]}: choose the last cell again to play it, or go on for a longer move`);
    else this.say("");
    this.draw();
  }

  choose(label) {
    const { choice } = this;
    const done = choice.complete(choice.cells, label);
    const choosing = choice.cells.length && choice.complete(choice.cells, "").some((move) => move[1]);
    if (choosing && done.length === 1) return this.play(done[0][0]);
    if (choosing && !done.length) return this.refuse(choice.cells, label);
    choice.label = choice.label === label ? "" : label;
    if (!choice.matching().length) choice.cells = [];
    this.draw();
  }

  clear() {
    this.choice.clear();
    this.forbidding = [];
    this.say("");
    this.draw();
  }

  play(name) {
    this.clear();
    if (this.host.play) this.host.play(name);
  }

  async refuse(cells, label = this.choice.label) {
    const names = cells.map((index) => this.view.cells[index][0]).join(" ");
    const { view } = this;
    const chosen = (this.choice.cells = []);
    this.forbidding = [];
    this.draw();
    const reasons = this.host.explain ? await this.host.explain(cells, label) : [];
    if (this.view !== view || this.choice.cells !== chosen) return; // the person has gone on
    const isDead = !label && cells.length === 1 && view.cells[cells[0]][4] === "dead";
    const reason = isDead ? `Nothing fits ${names} any more. Choose a number first to see what forbids it there.`
      : reasons[0] ?? `No move goes from or to ${names}.`;
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
    if (!this.host.hint || !this.choice.moves.length || this.hinting === view) return;
    this.hinting = view;
    this.say("Searching...");
    try {
      const hint = await this.host.hint();
      if (this.view !== view) return; // it is about another position
      this.hinted = view;
      this.hints.show(hint);
    } finally {
      if (this.hinting === view) this.hinting = null;
    }
  }

  // ---- the keyboard ----

  focus() {
    this.surface.hits[this.focused].focus({ preventScroll: true });
  }

  focusOn(index, move = true) {
    const { hits } = this.surface;
    hits[this.focused]?.setAttribute("tabindex", -1);
    this.focused = index;
    hits[index].setAttribute("tabindex", 0);
    if (move) hits[index].focus();
  }

  key(event, index) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const commands = {
      Enter: () => this.click(index), " ": () => this.click(index), Escape: () => this.clear(),
      u: () => this.undo(), h: () => this.hint(), c: () => this.toggleCandidates(), f: () => this.flip(),
    };
    const command = commands[key] || commands[key.toLowerCase()]; // as with Shift or Caps Lock
    const act = ARROWS[key] ? () => this.focusOn(this.surface.neighbour(index, ARROWS[key]))
      : this.choice.known.includes(key) ? () => this.type(index, key) : command;
    if (!act) return;
    event.preventDefault();
    if (ARROWS[key] || !event.repeat) act(); // a key that is held down only goes from cell to cell
  }

  // A label typed on a cell: places it there.
  type(index, label) {
    const { choice } = this;
    if (!choice.moves.length) return;
    const cells = choice.cells.at(-1) === index ? choice.cells : [...choice.cells, index];
    const done = choice.complete(cells, label);
    if (done.length === 1) this.play(done[0][0]);
    else if (choice.matching(cells, label).length) this.choose(label);
    else this.refuse(cells, label);
  }
}

// Recorded games to look through: in a page of their own, where this stands behind the modules that
// it imports, or as a part of another page.

import { mount } from "./board.js";
import { add, button } from "./elements.js";
import { Graph } from "./graph.js";

const STAYS = 300; // milliseconds

// The games of the page, if it has any.
function showGames() {
  new Replay(document.getElementById("replay"), JSON.parse(document.getElementById("games").textContent));
}

export class Replay {
  // `data` has `games` and the `parts` that their frames share; see azumaya.baselines.play.replay.
  constructor(root, data) {
    this.root = root;
    root.classList.add("azr");
    this.data = data;
    const bar = this.head = add(root, "header", "azr-head");
    this.title = add(bar, "h1");
    if (data.games.length > 1) {
      const label = add(bar, "label", "azr-pick");
      label.textContent = "Game ";
      const pick = this.pick = add(label, "select");
      data.games.forEach((game, n) => {
        add(pick, "option", "", { value: n }).textContent = `${n + 1}. ${game.title}: ${game.players.join(" - ")}`;
      });
      pick.addEventListener("change", () => this.open(Number(pick.value)));
    }
    this.board = mount(add(root, "div"), {});
    const controls = this.controls = add(root, "div", "azr-controls");
    const wrong = this.wrong = add(controls, "div", "azb-tools azb azr-wrongs", { hidden: "" });
    this.next = button(wrong, "Next mistake", "", () => this.goToMistake());
    this.tally = add(wrong, "p", "azr-tally");
    const row = add(controls, "div", "azb-tools azb", { role: "toolbar", "aria-label": "Replay" });
    button(row, "|<", "", () => this.go(0)).setAttribute("aria-label", "First position");
    button(row, "<", "", () => this.go(this.ply - 1)).setAttribute("aria-label", "Back");
    this.play = button(row, "Play", "", () => this.toggle());
    button(row, ">", "", () => this.go(this.ply + 1)).setAttribute("aria-label", "Forward");
    button(row, ">|", "", () => this.go(this.last)).setAttribute("aria-label", "Last position");
    this.bar = add(controls, "div", "azr-bar", { hidden: "", "aria-hidden": "true" });
    this.ends = [add(this.bar, "span"), add(this.bar, "span")];
    this.share = add(add(this.bar, "div"), "div");
    this.ends[0].after(this.share.parentNode);
    this.graph = new Graph(controls, (ply) => this.go(ply));
    this.slider = add(controls, "input", "azr-slider", { type: "range", min: 0, "aria-label": "Move" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.list = add(controls, "ol", "azr-moves", { "aria-label": "Moves" });
    const more = add(controls, "div", "azb-tools azb", { role: "toolbar", "aria-label": "More" });
    const speed = add(add(more, "label"), "select", "", { "aria-label": "Speed" });
    for (const [name, pause] of [["slow", 2000], ["normal", 900], ["fast", 350], ["very fast", 100]])
      add(speed, "option", "", { value: pause }).textContent = name;
    speed.value = 900;
    speed.addEventListener("change", () => { this.pause = Number(speed.value); });
    button(more, "Record", "", () => this.save());
    this.pause = 900;
    this.writing = 0; // writes the address once the position has stayed for a moment
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("click", (event) => this.followAgain(event));
    this.open(0);
    this.follow();
    clearTimeout(this.writing); // the address may name another part of the page
  }

  // Links to #game-2 open that game, to #12 the position after that many moves, to #game-2-12 both.
  follow() {
    const [said, game, ply] = location.hash.match(/^#(?:game-(\d+)-?)?(\d+)?$/) ?? [];
    if (!said || !this.root.isConnected || (game && !this.data.games[game - 1])) return;
    if (game) this.open(game - 1);
    if (ply) this.go(Number(ply));
    if (game) this.title.scrollIntoView();
  }

  // Puts what is shown into the address. Browsers refuse where it changes too often, and in frames
  // without an address.
  write() {
    const game = this.data.games.length > 1 ? `game-${this.data.games.indexOf(this.game) + 1}` : "";
    const hash = `#${[game, this.ply || ""].filter(Boolean).join("-")}`;
    if (!this.root.isConnected || (location.hash || "#") === hash) return;
    try {
      history.replaceState(history.state, "", hash.length > 1 ? hash : location.pathname + location.search);
    } catch { /* the address stays as it is */ }
  }

  // A link to where the page is already changes no address.
  followAgain(event) {
    const link = event.target.closest('a[href^="#game-"]');
    const isHere = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (link && isHere && link.hash === location.hash) this.follow();
  }

  open(number) {
    this.stop();
    if (this.pick) this.pick.value = number;
    this.game = this.data.games[number];
    this.last = this.game.frames.length - 1;
    this.title.textContent = `${this.game.title}: ${this.game.players.join(" - ")}`;
    this.slider.max = this.last;
    this.list.replaceChildren();
    this.links = this.game.moves.map((move, n) => {
      const link = button(add(this.list, "li"), move, "", () => this.go(n + 1));
      link.className = "azr-move";
      return link;
    });
    this.drawReview();
    this.go(0);
  }

  // What a search says of the game on the board; it may say more later.
  review(review) {
    this.game.review = review;
    const { values = [] } = this.game;
    this.game.values = [...review.plies.map(({ value }) => value), ...values.slice(review.plies.length)];
    this.drawReview();
    this.go(this.ply, false);
  }

  drawReview() {
    const { review, sides } = this.game;
    const wrong = review?.mistakes ?? [];
    this.graph.draw(this.game, this.last);
    this.slider.hidden = this.graph.isShown;
    this.bar.hidden = !this.graph.isShown;
    this.ends.forEach((end, player) => { end.textContent = sides[player]; });
    this.wrong.hidden = !review;
    const count = (player) => wrong.filter((n) => review.plies[n].mover === player).length;
    this.tally.textContent = `Mistakes: ${sides.map((side, player) => `${side} ${count(player)}`).join(", ")}`;
    this.next.disabled = !wrong.length;
    this.links.forEach((link, n) => {
      link.classList.toggle("azr-wrong", wrong.includes(n));
      link.title = wrong.includes(n) ? "a mistake" : "";
    });
  }

  // To the position before the next mistake, where the better move is drawn.
  goToMistake() {
    const wrong = this.game.review.mistakes;
    this.go(wrong.find((n) => n > this.ply) ?? wrong[0]);
  }

  go(ply, isMoved = true) {
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.board.show(this.frame(this.ply));
    this.slider.value = this.ply;
    const here = this.links[this.ply - 1];
    for (const link of this.links) {
      link.classList.toggle("azr-here", link === here);
      if (link === here) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    if (here && isMoved) this.list.scrollTop = here.offsetTop - this.list.offsetTop - 40;
    const words = this.spoken(this.ply);
    this.board.say(words);
    this.graph.show(this.ply, [`Move ${this.ply}`, this.game.moves[this.ply - 1], words].filter(Boolean).join(", "));
    this.slider.setAttribute("aria-valuetext", `Move ${this.ply}`);
    const value = this.game.values?.[this.ply];
    this.share.style.width = `${50 + (50 * (value ?? 0)) / this.graph.scale}%`;
    const best = this.game.review?.plies[this.ply]?.best;
    if (best) this.board.point([[best[0], best[1], [best[2]]]]);
    if (this.ply === this.last) this.stop();
    if (!isMoved) return;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), STAYS);
  }

  // What is known of a position, in words.
  spoken(ply) {
    const { values, review, moves } = this.game;
    const value = values?.[ply];
    if (value === undefined) return "";
    const seen = review?.plies[ply];
    const said = [this.expected(value, seen)];
    if (review?.mistakes.includes(ply)) said.push(`The next move, ${moves[ply]}, is a mistake: ${seen.best[0]} is better.`);
    else if (seen?.best) said.push(`Best move: ${seen.best[0]}.`);
    return said.join(" ");
  }

  // A value in words: who wins where it is proven, chances where only a win counts, else points.
  expected(value, seen) {
    const { bound, sides } = this.game;
    const how = seen ? (seen.exact ? " (proven)" : " (estimate)") : "";
    const better = sides[Number(value < 0)];
    if (bound > 1) return value ? `${capital(better)} gets ${Math.abs(value).toFixed(1)} points more${how}.` : `Even${how}.`;
    if (seen?.exact) return value ? `${capital(better)} wins${how}.` : `A draw${how}.`;
    return `Chances: ${sides[0]} ${percent(value)}, ${sides[1]} ${percent(-value)}${how}.`;
  }

  part(n) {
    return JSON.parse(this.data.parts[n]);
  }

  // Frames hold numbers of texts that many of them share.
  frame(ply) {
    const frame = this.game.frames[ply];
    const made = { yours: false };
    for (const [key, value] of Object.entries(frame))
      made[key] = Array.isArray(value) ? value.map((n) => this.part(n)) : this.part(value);
    return made;
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.ply === this.last) this.go(0);
    this.play.textContent = "Pause";
    const next = () => {
      this.timer = setTimeout(next, this.pause);
      this.go(this.ply + 1);
    };
    this.timer = setTimeout(next, this.pause);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }

  key(event) {
    const { target } = event;
    if (!this.root.isConnected || event.defaultPrevented) return; // another page is shown; a cell or the graph took the key
    if (target !== document.body && !this.root.contains(target)) return; // the page may have other content, whose keys these are
    if (target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") this.go(this.ply - 1);
    else if (event.key === "ArrowRight") this.go(this.ply + 1);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.last);
    else return;
    event.preventDefault();
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${this.game.record}\n`], { type: "application/json" }));
    link.download = "game.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

function percent(value) {
  return `${Math.round(50 * (1 + value))}%`;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

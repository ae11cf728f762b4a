// Recorded games to look through. Stands behind board.js in one module, in a page of its own.

const data = JSON.parse(document.getElementById("games").textContent);

class Replay {
  constructor(root) {
    this.root = root;
    const bar = add(root, "header", "azr-head");
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
    this.slider = add(root, "input", "azr-slider", { type: "range", min: 0, "aria-label": "Move" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    const row = add(root, "div", "azb-tools azb", { role: "toolbar", "aria-label": "Replay" });
    button(row, "|<", "", () => this.go(0)).setAttribute("aria-label", "First position");
    button(row, "<", "", () => this.go(this.ply - 1)).setAttribute("aria-label", "Back");
    this.play = button(row, "Play", "", () => this.toggle());
    button(row, ">", "", () => this.go(this.ply + 1)).setAttribute("aria-label", "Forward");
    button(row, ">|", "", () => this.go(this.last)).setAttribute("aria-label", "Last position");
    const speed = add(add(row, "label", "azr-speed"), "select", "", { "aria-label": "Speed" });
    for (const [name, pause] of [["slow", 2000], ["normal", 900], ["fast", 350], ["very fast", 100]])
      add(speed, "option", "", { value: pause }).textContent = name;
    speed.value = 900;
    speed.addEventListener("change", () => { this.pause = Number(speed.value); });
    button(row, "Record", "", () => this.save());
    this.pause = 900;
    this.graph = add(root, "div", "azr-graph");
    this.list = add(root, "ol", "azr-moves", { "aria-label": "Moves" });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("click", (event) => this.followAgain(event));
    this.open(0);
    this.follow();
  }

  // Links to #game-1, #game-2 and so on open these games.
  follow() {
    const number = Number(location.hash.match(/^#game-(\d+)$/)?.[1]);
    if (number >= 1 && number <= data.games.length) {
      this.open(number - 1);
      this.title.scrollIntoView();
    }
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
    this.game = data.games[number];
    this.last = this.game.frames.length - 1;
    this.title.textContent = `${this.game.title}: ${this.game.players.join(" - ")}`;
    this.slider.max = this.last;
    this.list.replaceChildren();
    this.links = this.game.moves.map((move, n) => {
      const link = button(add(this.list, "li"), move, "", () => this.go(n + 1));
      link.className = "azr-move";
      return link;
    });
    this.drawGraph();
    this.go(0);
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.board.show(this.frame(this.ply));
    this.slider.value = this.ply;
    const here = this.links[this.ply - 1];
    for (const link of this.links) {
      link.classList.toggle("azr-here", link === here);
      if (link === here) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    if (here) this.list.scrollTop = here.offsetTop - this.list.offsetTop - 40;
    this.mark?.setAttribute("x1", this.ply);
    this.mark?.setAttribute("x2", this.ply);
    const value = this.game.values?.[this.ply];
    this.board.say(value === undefined ? "" : `Value for player_0: ${value.toFixed(2)}`);
    if (this.ply === this.last) this.stop();
  }

  // Frames hold numbers of texts that many of them share.
  frame(ply) {
    const frame = this.game.frames[ply];
    const made = { yours: false };
    for (const [key, value] of Object.entries(frame))
      made[key] = Array.isArray(value) ? value.map((n) => JSON.parse(data.parts[n])) : JSON.parse(data.parts[value]);
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
    if (target !== document.body && !this.root.contains(target)) return; // the page may have other content, whose keys these are
    if (target.closest("input, select, svg") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") this.go(this.ply - 1);
    else if (event.key === "ArrowRight") this.go(this.ply + 1);
    else return;
    event.preventDefault();
  }

  drawGraph() {
    this.graph.replaceChildren();
    this.mark = null;
    const { values, bound } = this.game;
    if (!values) return;
    const svg = svgElement("svg", {
      viewBox: `0 ${-bound * 1.08} ${Math.max(1, this.last)} ${bound * 2.16}`,
      preserveAspectRatio: "none", role: "img", "aria-label": "The value for player_0 after each move",
    });
    const line = (attributes) => svg.appendChild(svgElement("line", attributes));
    line({ x1: 0, x2: this.last, y1: 0, y2: 0, class: "azr-zero" });
    const points = values.map((value, n) => `${n},${-value}`);
    svg.appendChild(svgElement("polyline", { points: points.join(" "), class: "azr-line" }));
    this.mark = line({ x1: 0, x2: 0, y1: -bound * 1.08, y2: bound * 1.08, class: "azr-mark" });
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      this.go(Math.round(((event.clientX - box.left) / box.width) * this.last));
    });
    this.graph.append(svg);
    add(this.graph, "p", "azr-axis").textContent =
      `Value for player_0: +${bound} at the top, -${bound} at the bottom`;
  }

  save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${this.game.record}\n`], { type: "application/json" }));
    link.download = "game.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

new Replay(document.getElementById("replay"));

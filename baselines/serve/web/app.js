// The pages of `azumaya serve`: choosing a game, and playing it on the board.

import { mount } from "/static/board.js";

const main = document.getElementById("main");
const what = document.getElementById("what");
const NAMES = { human: "a person, here", random: "random moves", greedy: "greedy, one step ahead" };
const RETRIES = 5;
const SLOW_AFTER = 4000;
const SLOW = "Still searching: the first search of a game takes up to a minute, as it is compiled.";

async function ask(path, body) {
  const request = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch(`/api/${path}`, request);
  const content = await answer.json();
  if (answer.ok) return content;
  throw Object.assign(new Error(content.error), { status: answer.status });
}

function add(parent, tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

function playerName(name) {
  const [kind, time] = name.split(":");
  return NAMES[name] || (time ? `search, ${time.replace("ms", " ms")} a move (${kind})` : name);
}

// ---- choosing a game ----

async function showStart() {
  what.textContent = "eight two-player games built on Sudoku's rule";
  const [choices, games] = await Promise.all([ask("choices"), ask("games")]);
  main.replaceChildren();
  const form = add(main, "form");
  const game = select(form, "Game", choices.games.map(({ name, title }) => [name, title]));
  const side = select(form, "You play", [["first", "first (player_0)"], ["second", "second (player_1)"]]);
  const opponent = select(form, "Against", []);
  const fields = add(form, "details");
  add(fields, "summary", "Options");
  const box = add(fields, "fieldset");
  const change = () => {
    const chosen = choices.games.find(({ name }) => name === game.value);
    const players = choices.players.filter(({ games }) => !games || games.includes(chosen.name));
    opponent.replaceChildren();
    for (const { name } of players) add(opponent, "option", playerName(name), { value: name });
    opponent.value = choices.default;
    showOptions(box, chosen.options);
  };
  game.addEventListener("change", change);
  change();
  add(form, "button", "Play", { class: "go" });
  const error = add(form, "p", "", { class: "error", role: "alert" });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await begin(game.value, side.value, opponent.value, new FormData(form));
    } catch (problem) {
      error.textContent = problem.message;
    }
  });
  const gallery = add(main, "p", "Or watch ");
  add(gallery, "a", "games between agents", { href: "/gallery" });
  if (games.length) showGames(games);
}

async function showGallery() {
  what.textContent = "games between agents, to look through";
  document.title = "Gallery - Azumaya";
  const games = await ask("gallery");
  main.replaceChildren();
  add(main, "h2", "Gallery");
  if (!games.length) add(main, "p", "The gallery is empty.");
  const list = add(main, "ul", "", { class: "gallery" });
  games.forEach(({ title, players, date, story }, n) => {
    const link = add(add(list, "li"), "a", "", { href: `/gallery/${n}` });
    add(link, "img", "", { src: `/gallery/${n}.svg`, alt: "", loading: "lazy", width: 240 });
    add(link, "strong", title);
    add(link, "span", players.map((name, p) => name || `player_${p}`).join(" - "));
    add(link, "small", `${story} ${date}`);
  });
}

function select(parent, label, options) {
  const made = add(add(parent, "label", label), "select", "", { "aria-label": label });
  for (const [value, text] of options) add(made, "option", text, { value });
  return made;
}

function showOptions(box, options) {
  box.replaceChildren();
  add(box, "legend", "Empty means the default, or what a checkpoint was trained with");
  for (const { name, default: usual, values, meaning, suggested } of options) {
    const label = add(box, "label", name);
    const list = `list-${name}`;
    add(label, "input", "", {
      name: `option:${name}`, placeholder: usual, list, autocomplete: "off", maxlength: 2000, spellcheck: "false",
    });
    if (suggested.length) {
      const offered = add(label, "datalist", "", { id: list });
      for (const value of suggested) add(offered, "option", "", { value });
    }
    add(label, "small", `${meaning} Values: ${values}.`);
  }
  const seed = add(box, "label", "seed");
  add(seed, "input", "", { name: "seed", type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, placeholder: "random" });
  add(seed, "small", "Draws the start, and what is left to chance.");
}

async function begin(game, side, opponent, fields) {
  const players = side === "first" ? ["human", opponent] : [opponent, "human"];
  const options = {};
  for (const [key, value] of fields) if (key.startsWith("option:") && value) options[key.slice(7)] = value;
  const wish = { game, options, first: players[0], second: players[1] };
  if (fields.get("seed")) wish.seed = Number(fields.get("seed"));
  const view = await ask("games", wish);
  history.pushState({}, "", `/g/${view.id}`);
  showGame(view);
}

function showGames(games) {
  add(main, "h2", "Your games");
  const list = add(main, "ul", "", { class: "games" });
  for (const { id, game, players, moves } of games) {
    const line = add(list, "li");
    add(line, "a", `${game}: ${players.map(playerName).join(" - ")}`, { href: `/g/${id}` });
    add(line, "small", ` ${moves} moves`);
  }
}

// ---- playing ----

function showGame(first) {
  main.replaceChildren();
  const page = add(main, "div", "", { class: "play" });
  const place = add(page, "div");
  const aside = add(page, "div", "", { class: "aside" });
  let view = first;
  let busy = false;
  const api = (name, body = {}) => ask(`games/${view.id}/${name}`, { ply: view.ply, ...body });
  const board = mount(place, {
    play: (move) => act(() => api("move", { move })),
    undo: () => act(() => api("undo")),
    hint: () => api("hint").catch((problem) => ({ summary: problem.message, moves: [] })),
    explain: async (cells, label) => (await api("explain", { cells, label })).sentences,
  });

  async function act(work) {
    if (busy) return;
    busy = true;
    try {
      show(await work());
    } catch (problem) {
      if (problem.status === 409) show(await ask(`games/${view.id}`));
      board.say(problem.message);
    } finally {
      busy = false;
    }
    if (view.thinking) answer(view.ply);
  }

  // Asks for the agent's move; the person may take moves back meanwhile.
  async function answer(ply, tries = 0) {
    const patience = setTimeout(() => { if (view.ply === ply) board.say(SLOW); }, SLOW_AFTER);
    try {
      const next = await ask(`games/${view.id}/answer`, { ply });
      if (view.ply !== ply) return;
      show(next);
      if (next.thinking) answer(next.ply);
    } catch (problem) {
      board.say(problem.message);
      if (view.ply === ply && problem.status !== 409 && tries < RETRIES)
        setTimeout(() => answer(ply, tries + 1), 500 * 2 ** tries);
    } finally {
      clearTimeout(patience);
    }
  }

  function show(next) {
    view = next;
    what.textContent = view.title;
    document.title = `${view.title} - Azumaya`;
    board.show(view);
    Object.assign(page.dataset, { ply: view.ply, yours: view.yours, over: view.over });
    if (view.thinking) board.say(`${playerName(view.players[view.toMove])} is to move...`);
    showAside(aside, view);
  }

  show(first);
  if (view.thinking) answer(view.ply);
}

function showAside(aside, view) {
  aside.replaceChildren();
  add(aside, "h2", "Players");
  view.players.forEach((name, n) => add(aside, "div", `player_${n}: ${playerName(name)}`));
  add(aside, "h2", `Moves (${view.ply})`);
  const list = add(aside, "ol", "", { class: "moves" });
  view.made.forEach((move, n) => add(list, "li", move, view.movers[n] ? { class: "second" } : {}));
  list.scrollTop = list.scrollHeight;
  add(aside, "h2", "To hand on");
  const row = add(aside, "div", "", { class: "row" });
  add(row, "a", "Watch", { class: "link", href: `/watch/${view.share}`, target: "_blank", rel: "noopener" });
  add(row, "a", "Record", { class: "link", href: `/api/games/${view.id}/record`, download: "" });
  const copy = add(row, "button", "Copy link", { type: "button" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(new URL(`/watch/${view.share}`, location.href).href);
    copy.textContent = "Copied";
  });
  if (view.over) add(add(aside, "p"), "a", "New game", { href: "/" });
}

// ---- where to begin ----

async function route() {
  const game = location.pathname.match(/^\/g\/([\w-]+)$/);
  try {
    if (game) showGame(await ask(`games/${game[1]}`));
    else if (location.pathname === "/gallery") await showGallery();
    else await showStart();
  } catch (problem) {
    main.replaceChildren();
    add(main, "p", problem.message, { class: "error", role: "alert" });
    add(main, "a", "To the start", { href: "/" });
  }
}

window.addEventListener("popstate", route);
route();

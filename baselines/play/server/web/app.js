// The pages of `azumaya serve`: choosing a game, and playing it on the board.

import { mount } from "./board.js";

const ROOT = new URL("../", import.meta.url); // a proxy may have put all pages below a prefix
const main = document.getElementById("main");
const what = document.getElementById("what");
const NAMES = { human: "a person at this screen", random: "random moves", greedy: "greedy, one step ahead" };
const RETRIES = 5;
const SLOW_AFTER = 4000;
const COPIED_FOR = 3000;
const SLOW = "Still searching... The first search of a game can take a minute, since it is compiled.";

let visit = 0; // the number of the page shown: what comes late for an earlier one is dropped
let wake = () => {}; // asks again for what the page waits for, if anything

// The address of a page or a file of the server.
function at(path) {
  return new URL(path, ROOT).href;
}

async function ask(path, body, method = body ? "POST" : "GET", signal = undefined) {
  const request = method === "GET" ? {} : {
    method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  };
  const answer = await fetch(at(`api/${path}`), { ...request, signal }).catch(() => {
    throw new Error("the server cannot be reached");
  });
  const content = await answer.json().catch(() => null); // what stands between may answer with a page
  if (answer.ok && content !== null) return content;
  const message = content?.error ?? `the server failed: status ${answer.status}`;
  throw Object.assign(new Error(message), { status: answer.status });
}

function add(parent, tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

function playerName(name) {
  const [, kind, time] = name.match(/^(\w+):([\d.]+)ms$/) || [];
  return NAMES[name] || (time ? `search, ${time} ms a move (${kind})` : name);
}

// ---- choosing a game ----

async function showStart(here) {
  const [choices, games] = await Promise.all([ask("choices"), ask("games")]);
  if (here !== visit) return;
  entitle("Azumaya", "two-player games, most of them built on the Sudoku rule");
  main.replaceChildren();
  const form = add(main, "form");
  const game = select(form, "Game", choices.games.map(({ name, title }) => [name, title]));
  const side = select(form, "You play", [["first", "first (player_0)"], ["second", "second (player_1)"]]);
  const opponent = select(form, "Against", []);
  const fields = add(form, "details");
  add(fields, "summary", "Options");
  // The browser cannot say what is wrong with a field that is not shown.
  fields.addEventListener("invalid", () => { fields.open = true; }, true);
  const box = add(fields, "fieldset");
  const change = () => {
    const chosen = choices.games.find(({ name }) => name === game.value);
    const players = choices.players.filter(({ games }) => !games || games.includes(chosen.name));
    const before = opponent.value;
    opponent.replaceChildren();
    for (const { name } of players) add(opponent, "option", playerName(name), { value: name });
    opponent.value = before;
    if (!opponent.value) opponent.value = choices.default; // the one before does not play this game
    showOptions(box, chosen.options);
  };
  game.addEventListener("change", change);
  change();
  const go = add(form, "button", "Play", { class: "go" });
  const status = add(form, "p", "", { role: "status" });
  const error = add(form, "p", "", { class: "error", role: "alert" });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    error.textContent = "";
    status.textContent = "Preparing the game...";
    try {
      await begin(game.value, side.value, opponent.value, new FormData(form));
    } catch (problem) {
      error.textContent = problem.message;
    } finally {
      go.disabled = false;
      status.textContent = "";
    }
  });
  const gallery = add(main, "p", "Or watch ");
  add(gallery, "a", "games between agents", { href: at("gallery") });
  showGames(add(main, "section"), games);
}

async function showGallery(here) {
  const games = await ask("gallery");
  if (here !== visit) return;
  entitle("Gallery - Azumaya", "games between agents, to look through");
  main.replaceChildren();
  add(main, "h2", "Gallery");
  if (!games.length) add(main, "p", "The gallery is empty.");
  const list = add(main, "ul", "", { class: "gallery" });
  games.forEach(({ title, players, date, story, version }, n) => {
    const link = add(add(list, "li"), "a", "", { href: at(`gallery/${n}`) });
    add(link, "img", "", { src: at(`gallery/${n}.svg?${version}`), alt: "", loading: "lazy", width: 240 });
    add(link, "strong", title);
    add(link, "span", players);
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
  const here = visit;
  const view = await ask("games", wish);
  if (here !== visit) return; // the person has gone elsewhere; the game is in the list
  history.pushState({}, "", at(`g/${view.id}`));
  showGame(view).focus();
}

// `focused` is the number of the game whose button gets the keyboard's focus, if any.
function showGames(section, games, focused = -1) {
  section.replaceChildren();
  if (!games.length) return focused < 0 || main.focus();
  add(section, "h2", "Your games");
  const list = add(section, "ul", "", { class: "games" });
  const error = add(section, "p", "", { class: "error", role: "alert" });
  games.forEach(({ id, game, players, moves }, n) => {
    const line = add(list, "li");
    const title = `${game}: ${players.map(playerName).join(" - ")}`;
    add(line, "a", title, { href: at(`g/${id}`) });
    add(line, "small", ` ${moves} ${moves === 1 ? "move" : "moves"} `);
    const button = add(line, "button", "Delete", { type: "button", "aria-label": `Delete ${title}` });
    button.addEventListener("click", async () => {
      if (!confirm(`Delete this game for good? ${title}`)) return;
      try {
        showGames(section, await ask(`games/${id}`, undefined, "DELETE"), n);
      } catch (problem) {
        error.textContent = problem.message;
      }
    });
  });
  if (focused >= 0) list.children[Math.min(focused, games.length - 1)].querySelector("button").focus();
}

// ---- playing ----

function showGame(first) {
  const here = (visit += 1);
  main.replaceChildren();
  const page = add(main, "div", "", { class: "play" });
  const column = add(page, "div");
  const place = add(column, "div");
  const again = add(column, "button", "Try again", { class: "go", type: "button", hidden: "" });
  const showAside = buildAside(add(page, "div", "", { class: "aside" }), first);
  let view = first;
  let busy = false;
  let asking = null; // the view for which the agent's move is being asked for
  let retry = 0;
  let pending = new AbortController(); // ends what changes the game, which can be looked at instead
  const api = (name, body = {}, signal = undefined) =>
    ask(`games/${view.id}/${name}`, { changes: view.changes, ...body }, "POST", signal);
  const board = mount(place, {
    play: (move) => act(() => api("move", { move }, pending.signal)),
    undo: () => act(() => api("undo", {}, pending.signal)),
    hint: () => patiently(() => api("hint")).catch((problem) => ({ summary: problem.message, moves: [] })),
    explain: (cells, label) => api("explain", { cells, label })
      .then(({ sentences }) => sentences, (problem) => [problem.message]),
  });

  async function act(work) {
    if (busy) return;
    busy = true;
    try {
      follow(await work());
    } catch (problem) {
      // Without an answer, the move may have been made or not.
      const isUnclear = !problem.status || problem.status === 409;
      const now = isUnclear ? await ask(`games/${view.id}`).catch(() => null) : null;
      if (now) follow(now);
      if (problem.status || !now) board.say(problem.message);
    } finally {
      busy = false;
    }
  }

  // Says so if it takes long, unless the board shows something else by then.
  async function patiently(work) {
    const asked = view;
    const patience = setTimeout(() => here !== visit || view !== asked || board.say(SLOW), SLOW_AFTER);
    return work().finally(() => clearTimeout(patience));
  }

  // Asks for the agent's move; the person may take moves back or leave meanwhile.
  async function answer(tries = 0) {
    const asked = view;
    const isLate = () => here !== visit || view !== asked;
    asking = asked;
    again.hidden = true;
    try {
      const next = await patiently(() => api("answer", {}, pending.signal));
      if (!isLate()) follow(next, `player_${asked.toMove}: ${next.made.at(-1)}`);
    } catch (problem) {
      const now = problem.status === 409 ? await ask(`games/${asked.id}`).catch(() => asked) : asked;
      if (isLate()) return;
      if (!now.thinking) return show(now); // the same game in another tab had the answer first
      board.say(problem.message);
      const mayPass = !(problem.status < 500 || problem.status === 502); // 502: the agent has failed
      wake = mayPass ? askAgain : () => {};
      if (mayPass && tries < RETRIES) retry = setTimeout(() => isLate() || answer(tries + 1), 500 * 2 ** tries);
      else again.hidden = false;
    } finally {
      if (asking === asked) asking = null;
    }
  }

  // Asks for the agent's move, if one is due. While the page slept, the connection may have died
  // without a word; what was asked on it is asked again.
  function askAgain() {
    if (here !== visit) return;
    pending.abort();
    pending = new AbortController();
    setTimeout(() => {
      if (here !== visit || !view.thinking || asking === view) return;
      clearTimeout(retry);
      sayWhoMoves();
      answer();
    });
  }

  function sayWhoMoves() {
    board.say(`player_${view.toMove} is thinking... (${playerName(view.players[view.toMove])})`);
  }

  function follow(next, said = "") {
    if (here !== visit) return;
    show(next);
    if (view.thinking) answer();
    else board.say(said);
  }

  function show(next) {
    view = next;
    wake = askAgain;
    entitle(`${view.title} - Azumaya`, view.title);
    board.show(view);
    again.hidden = true;
    Object.assign(page.dataset, { ply: view.ply, yours: view.yours, over: view.over });
    if (view.thinking) sayWhoMoves();
    showAside(view);
  }

  again.addEventListener("click", () => {
    askAgain();
    board.focus(); // the button is gone
  });
  follow(first);
  return board;
}

// What stands beside the board, and the function that renews it. The row to share is made only once:
// it may show a link that is just being copied.
function buildAside(aside, { id, share }) {
  add(aside, "h2", "Players");
  const players = add(aside, "div");
  const heading = add(aside, "h2");
  const list = add(aside, "ol", "", { class: "moves" });
  add(aside, "h2", "Share");
  buildShare(add(aside, "div", "", { class: "row" }), id, share);
  const next = add(add(aside, "p"), "a", "New game", { href: at("") });
  return (view) => {
    players.replaceChildren();
    view.players.forEach((name, n) => add(players, "div", `player_${n}: ${playerName(name)}`));
    heading.textContent = `Moves (${view.ply})`;
    list.replaceChildren();
    view.made.forEach((move, n) => add(list, "li", move, view.movers[n] ? { class: "second" } : {}));
    list.lastElementChild?.setAttribute("aria-current", "step");
    list.scrollTop = list.scrollHeight;
    next.hidden = !view.over;
  };
}

function buildShare(row, id, share) {
  add(row, "a", "Watch", { class: "link", href: at(`watch/${share}`), target: "_blank", rel: "noopener" });
  add(row, "a", "Record", { class: "link", href: at(`api/games/${id}/record`), download: "" });
  const copy = add(row, "button", "Copy link", { type: "button" });
  copy.addEventListener("click", async () => {
    const link = at(`watch/${share}`);
    try {
      await navigator.clipboard.writeText(link);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy link"; }, COPIED_FOR);
    } catch { // browsers copy only on pages by HTTPS or from this machine, and only if allowed
      const shown = add(row, "input", "", { "aria-label": "Link", readonly: "", value: link });
      copy.remove();
      shown.select();
    }
  });
}

// ---- where to begin ----

function entitle(title, words) {
  document.title = title;
  what.textContent = words;
}

async function route() {
  const here = (visit += 1);
  const path = location.pathname.slice(ROOT.pathname.length);
  const game = path.match(/^g\/([\w-]+)$/);
  try {
    if (game) {
      const view = await ask(`games/${game[1]}`);
      if (here === visit) showGame(view);
    } else if (path === "gallery") await showGallery(here);
    else await showStart(here);
  } catch (problem) {
    if (here !== visit) return;
    entitle("Azumaya", "");
    main.replaceChildren();
    add(main, "p", problem.message, { class: "error", role: "alert" });
    add(main, "a", "To the start", { href: at("") });
  }
}

// What had the keyboard's focus is gone with the page before.
async function goBack() {
  await route();
  main.focus();
}

window.addEventListener("popstate", goBack);
window.addEventListener("online", () => wake());
document.addEventListener("visibilitychange", () => document.hidden || wake());
route();

// Playing a game: what the person does goes to the server, and the agent is asked for its moves.

import { buildAgreements, newsOf } from "./agree.js";
import { buildAside } from "./aside.js";
import { mount } from "./board.js";
import { buildClocks } from "./clock.js";
import { followGame } from "./follow.js";
import { rememberJoined } from "./joined.js";
import { buildInvitation } from "./links.js";
import { add, ask, at, entitle, main, shown } from "./page.js";
import { buildSounds } from "./sound.js";

const RETRIES = 5;
const SLOW_AFTER = 4000;
const SLOW = "Still searching... The first search of a game can take a minute, since it is compiled.";

// `begin` begins another game, as for a rematch.
export function showGame(first, begin) {
  const here = (shown.visit += 1);
  main.replaceChildren();
  const page = add(main, "div", "", { class: "play" });
  const column = add(page, "div");
  const showClocks = buildClocks(column, runOut);
  const place = add(column, "div");
  const again = add(column, "button", "Try again", { class: "go", type: "button", hidden: "" });
  const aside = add(page, "div", "", { class: "aside" });
  const beside = buildAside(aside, first, begin, lookBack);
  const showInvitation = buildInvitation(column, aside, first);
  const sound = buildSounds(aside);
  let view = first;
  let busy = false;
  let asking = null; // the view for which the agent's move is being asked for
  let retry = 0;
  let looking = -1; // the number of moves whose position is being asked for
  let pending = new AbortController(); // ends what changes the game, which can be looked at instead
  const api = (name, body = {}, signal = undefined) =>
    ask(`games/${view.id}/${name}`, { changes: view.changes, ...body }, "POST", signal);
  const isAlone = first.seats.length > 0 && !first.players.includes("friend"); // with nobody to ask
  const board = mount(place, {
    flipped: first.follows && first.seats.includes(1),
    play: (move) => act(() => api("move", { move }, pending.signal)),
    undo: isAlone && (() => act(() => api("undo", {}, pending.signal))),
    hint: isAlone && (() => patiently(() => api("hint")).catch((problem) => ({ summary: problem.message, moves: [] }))),
    explain: (cells, label) => api("explain", { cells, label })
      .then(({ sentences }) => sentences, (problem) => [problem.message]),
  });

  const back = add(place, "button", "Back to the game", { class: "azb-button back", type: "button", hidden: "" });
  const showAgreements = buildAgreements(place, (name, body) => act(() => api(name, body)));
  const lookNow = first.follows
    ? followGame(here, () => view, takeNews, (words) => board.say(words)) : () => {};

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
    const patience = setTimeout(() => here !== shown.visit || view !== asked || board.say(SLOW), SLOW_AFTER);
    return work().finally(() => clearTimeout(patience));
  }

  // Asks for the agent's move; the person may take moves back or leave meanwhile.
  async function answer(tries = 0) {
    const asked = view;
    const isLate = () => here !== shown.visit || view !== asked;
    asking = asked;
    again.hidden = true;
    try {
      const next = await patiently(() => api("answer", {}, pending.signal));
      if (!isLate()) follow(next, newsOf(asked, next));
    } catch (problem) {
      const now = problem.status === 409 ? await ask(`games/${asked.id}`).catch(() => asked) : asked;
      if (isLate()) return;
      if (!now.thinking) return show(now); // the same game in another tab had the answer first
      board.say(problem.message);
      const mayPass = !(problem.status < 500 || problem.status === 502); // 502: the agent has failed
      shown.wake = mayPass ? askAgain : () => {};
      if (mayPass && tries < RETRIES) retry = setTimeout(() => isLate() || answer(tries + 1), 500 * 2 ** tries);
      else again.hidden = false;
    } finally {
      if (asking === asked) asking = null;
    }
  }

  // Asks for the agent's move, if one is due. While the page slept, the connection may have died
  // without a word; what was asked on it is asked again.
  function askAgain() {
    if (here !== shown.visit) return;
    pending.abort();
    pending = new AbortController();
    setTimeout(() => {
      if (here !== shown.visit || !view.thinking || asking === view) return;
      clearTimeout(retry);
      board.say("");
      answer();
    });
  }

  function follow(next, said = "") {
    if (here !== shown.visit) return;
    const goesOn = next.rematch && !view.rematch;
    show(next); // also if another game follows: who goes back to this page is not sent on again
    if (goesOn) return location.assign(at(`g/${next.rematch}`));
    if (view.thinking && view.seats.length) answer();
    else board.say(said);
  }

  // Shows the position after a number of moves, until the game goes on.
  async function lookBack(ply) {
    if (ply === view.ply) return show(view);
    looking = ply;
    try {
      const past = await ask(`games/${view.id}?ply=${ply}`);
      if (here !== shown.visit || looking !== ply) return;
      board.show({ ...view, ...past, yours: false, canUndo: false });
      beside.mark(ply);
      back.hidden = false;
    } catch (problem) {
      board.say(problem.message);
    }
  }

  // The server says whether the time of a side is over.
  async function runOut() {
    const asked = view;
    const now = await ask(`games/${view.id}`).catch(() => null);
    if (now && view === asked) follow(now);
  }

  // What others have done.
  function takeNews(next) {
    follow(next, newsOf(view, next));
  }

  function show(next) {
    sound(view, next);
    view = next;
    looking = -1;
    shown.wake = view.follows ? lookNow : askAgain;
    entitle(`${view.follows && view.yours ? "Your turn: " : ""}${view.title} - Azumaya`, view.title);
    board.show(view);
    back.hidden = true;
    again.hidden ||= !view.thinking;
    Object.assign(page.dataset, { ply: view.ply, yours: view.yours, over: view.over });
    showClocks(view);
    beside.show(view);
    showInvitation(view);
    rememberJoined(view);
    showAgreements(view);
  }

  back.addEventListener("click", () => {
    show(view);
    board.focus(); // the button is gone
  });
  again.addEventListener("click", () => {
    askAgain();
    board.focus(); // the button is gone
  });
  follow(first);
  return board;
}

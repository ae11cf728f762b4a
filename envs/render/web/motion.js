// Stones slide to where they have moved, and new ones fall, unless the person wants less motion.

const [SLIDE, FALL] = [{ duration: 220, easing: "ease-in-out" }, { duration: 180, easing: "ease-in" }];
const MOST = 14; // more changes than a move makes are another position

// Shows how `after` came from `before`. `stones` are the elements of the cells, `place` says where a
// cell of `after` is drawn.
export function animateMove(before, after, stones, place) {
  if (!before || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const changes = changedStones(before, after);
  if (changes.length > MOST) return;
  for (const [to, from] of changes) {
    const [x, y] = place(to);
    const [fromX, fromY] = from === undefined ? [x, y - after.pitch * 0.6] : place(from);
    const begin = { transform: `translate(${fromX - x}px, ${fromY - y}px)`, opacity: from === undefined ? 0 : 1 };
    stones[to]?.animate([begin, { transform: "none", opacity: 1 }], from === undefined ? FALL : SLIDE);
  }
}

function stone(view, n) {
  return view.cells[n][4] === "dead" ? "" : view.cells[n][4];
}

// The cells that have got a stone, each with the cell that an equal one has left, if any. Of a row
// that has moved on by one, only the ends differ: all of its stones have moved.
function changedStones(before, after) {
  const changed = [...after.cells.keys()].filter((n) => stone(before, n) !== stone(after, n));
  const left = changed.filter((n) => stone(before, n));
  const came = changed.filter((n) => stone(after, n)).map((to) => {
    const nth = left.findIndex((n) => stone(before, n) === stone(after, to));
    return nth < 0 ? [to] : [to, ...left.splice(nth, 1)];
  });
  const made = came.flatMap(([to, from]) => (from === undefined ? [[to]] : hops(before, after, from, to)));
  return [...made, ...left.flatMap((gone) => pushedOff(before, after, made.find(([to]) => to === gone)))];
}

// A stone's way as moves of its whole row, if it lies in one that the move names or has pushed.
function hops(before, after, from, to) {
  const between = cellsBetween(after, from, to);
  const named = new Set([...before.last, ...after.last]);
  const isPushed = stone(after, from) || stone(before, to);
  const isRow = between.every((n) => stays(before, after, n, stone(after, to)) && (isPushed || named.has(n)));
  if (!isRow) return [[to, from]];
  const way = [from, ...between, to];
  return way.slice(1).map((n, nth) => [n, way[nth]]);
}

// The rest of a row whose last stone was pushed off the board, by one that has moved on to `to`.
function pushedOff(before, after, [to, from] = []) {
  if (from === undefined) return [];
  const at = (n) => after.cells[n].slice(1, 3);
  const [[x, y], [fromX, fromY]] = [at(to), at(from)];
  const made = [];
  for (let [n, step] = [to, 1]; ; step += 1) {
    const [nextX, nextY] = [x + step * (x - fromX), y + step * (y - fromY)];
    const next = after.cells.findIndex((_, m) => Math.hypot(at(m)[0] - nextX, at(m)[1] - nextY) < after.pitch / 4);
    if (next < 0 || !stays(before, after, next, stone(before, to))) return made;
    made.push([next, n]);
    n = next;
  }
}

function stays(before, after, n, what) {
  return stone(before, n) === what && stone(after, n) === what;
}

// The cells on the line from one to another, the nearest first.
function cellsBetween({ cells, pitch }, from, to) {
  const [[, x, y], [, toX, toY]] = [cells[from], cells[to]];
  const length = Math.hypot(toX - x, toY - y);
  const along = ([, cellX, cellY]) => ((cellX - x) * (toX - x) + (cellY - y) * (toY - y)) / length;
  const aside = ([, cellX, cellY]) => Math.abs((cellX - x) * (toY - y) - (cellY - y) * (toX - x)) / length;
  return [...cells.keys()]
    .filter((n) => n !== from && n !== to && aside(cells[n]) < pitch / 4 && along(cells[n]) > 0 && along(cells[n]) < length)
    .sort((a, b) => along(cells[a]) - along(cells[b]));
}

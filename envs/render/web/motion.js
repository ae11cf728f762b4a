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

// The cells that have got a stone, each with the cell that an equal one has left, if any.
function changedStones(before, after) {
  const stone = (view, n) => (view.cells[n][4] === "dead" ? "" : view.cells[n][4]);
  const changed = [...after.cells.keys()].filter((n) => stone(before, n) !== stone(after, n));
  const left = changed.filter((n) => stone(before, n));
  return changed.filter((n) => stone(after, n)).map((to) => {
    const nth = left.findIndex((n) => stone(before, n) === stone(after, to));
    return nth < 0 ? [to] : [to, ...left.splice(nth, 1)];
  });
}

// How a move is made: by clicking the cells of one of its paths in order and, where several moves
// share a path, choosing a label such as a number. A move is [name, label, paths].

export class Choice {
  constructor() {
    this.moves = []; // those that can be made
    this.known = []; // labels seen so far, so that their buttons stay where they are
    this.clear();
  }

  clear() {
    this.cells = []; // the cells clicked so far
    this.label = ""; // the label chosen before any cell
  }

  // Other moves can be made, perhaps on another board.
  begin(moves, isOtherBoard) {
    this.clear();
    this.moves = moves;
    const labels = moves.filter((move) => !hasButton(move) && move[1]).map((move) => move[1]);
    this.known = [...new Set([...(isOtherBoard ? [] : this.known), ...labels])].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }));
  }

  // Moves that begin with some cells and have a label, if one is given.
  matching(cells = this.cells, label = this.label) {
    return this.moves.filter((move) => (!label || move[1] === label)
      && move[2].some((path) => path.length && begins(path, cells)));
  }

  // Those of them that have no more cells.
  complete(cells = this.cells, label = this.label) {
    return this.matching(cells, label).filter((move) =>
      move[2].some((path) => path.length === cells.length && begins(path, cells)));
  }

  // Whether moves with more cells begin with those chosen.
  goesOn() {
    return this.matching().length > this.complete().length;
  }

  // Whether a label tells this move from others, as a number does.
  isLabelled(move) {
    return this.known.includes(move[1]);
  }

  // The cells that can be clicked next.
  targets() {
    const next = new Set();
    for (const move of this.matching()) {
      const path = move[2].find((each) => each.length > this.cells.length && begins(each, this.cells));
      if (path) next.add(path[this.cells.length]);
    }
    return next;
  }

  // The cells chosen once this one has been clicked, too; undefined if no move goes so.
  extended(index) {
    const cells = [...this.cells, index];
    if (this.matching(cells).length) return cells;
    return this.cells.length && this.beginsAnew(index) ? [index] : undefined;
  }

  // Whether a click that does not go on from the cells chosen begins another move. While a stone is
  // to go somewhere, a cell on its own does not: it may be where another stone can go.
  beginsAnew(index) {
    const least = this.targets().size ? 2 : 1;
    return this.matching([index]).some((move) =>
      move[2].some((path) => path[0] === index && path.length >= least));
  }

  // The moves with a button of their own: those without cells, and those that need no more than a
  // press because their cells are all chosen.
  buttons() {
    const done = this.cells.length ? this.complete() : [];
    const isReady = (move) => done.includes(move) && (hasButton(move) || !this.known.includes(move[1]));
    return this.moves.filter((move) => hasButton(move) || isReady(move))
      .map((move) => ({ name: move[0], isReady: isReady(move) }));
  }
}

function begins(path, cells) {
  return cells.every((cell, n) => path[n] === cell);
}

function hasButton(move) {
  return move[2].some((path) => !path.length);
}

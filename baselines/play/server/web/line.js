// Positions that follow each other by themselves, one after the other.

const PAUSE = 900;

export async function playLine(board, views, isHere) {
  for (const [n, each] of views.entries()) {
    if (n) await new Promise((done) => setTimeout(done, PAUSE));
    if (isHere()) board.show(each);
  }
}

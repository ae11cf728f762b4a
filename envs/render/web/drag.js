// Dragging a stone: what two taps do, with one movement.

const LEAST = 8; // pixels; less is a tap
const ENDS = ["pointerup", "pointercancel"];

// `cellOf(element)` is the number of a cell or undefined, `canDrag(cell)` says whether something there
// can move, `stone(cell)` is its element, `drop(from, to)` makes the move.
export function allowDragging(svg, { cellOf, canDrag, stone, drop }) {
  let held = null;

  svg.addEventListener("pointerdown", (event) => {
    const from = cellOf(event.target);
    if (event.button || from === undefined || !canDrag(from)) return;
    held = { from, x: event.clientX, y: event.clientY, pointer: event.pointerId };
    for (const name of ENDS) window.addEventListener(name, end);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.pointerId !== held?.pointer) return;
    const scale = svg.viewBox.baseVal.width / svg.clientWidth;
    const [right, down] = [event.clientX - held.x, event.clientY - held.y];
    if (Math.hypot(right, down) < LEAST && !held.stone) return;
    held.stone ??= stone(held.from);
    if (held.stone) held.stone.style.transform = `translate(${right * scale}px, ${down * scale}px)`;
  });
  const end = (event) => {
    if (event.pointerId !== held?.pointer) return;
    const { from, stone: moved } = held;
    held = null;
    for (const name of ENDS) window.removeEventListener(name, end);
    if (moved) moved.style.transform = "";
    const at = svg.getRootNode().elementFromPoint(event.clientX, event.clientY);
    const to = event.type === "pointerup" && moved && at ? cellOf(at) : undefined;
    if (to !== undefined && to !== from) drop(from, to);
  };
}

// The board in a notebook.

import { mount } from "./board.js";

// What anywidget calls: the model's `view` is shown, and what the person does is sent to Python.
function render({ model, el }) {
  const waiting = new Map();
  let number = 0;
  // Python may be busy for long: what was meant for an earlier position is not for a later one.
  const send = (content) => model.send({ ...content, changes: model.get("view").changes });
  const ask = (content) => new Promise((resolve) => {
    number += 1;
    waiting.set(number, resolve);
    send({ ...content, number });
  });
  const board = mount(el, {
    play: (move) => send({ kind: "play", move }),
    undo: () => send({ kind: "undo" }),
    explain: (cells, label) => ask({ kind: "explain", cells, label }),
  });
  const show = () => {
    waiting.clear();
    board.show(model.get("view"));
  };
  const answer = (content) => {
    if (content.kind === "said") return board.say(content.text);
    waiting.get(content.number)?.(content.sentences);
    waiting.delete(content.number);
  };
  // Notebooks have commands on plain keys: in JupyterLab, D twice deletes the cell of this board.
  const keep = (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey) event.stopPropagation();
  };
  el.addEventListener("keydown", keep);
  model.on("change:view", show);
  model.on("msg:custom", answer);
  show();
  return () => {
    el.removeEventListener("keydown", keep);
    model.off("change:view", show);
    model.off("msg:custom", answer);
  };
}

export default { render };

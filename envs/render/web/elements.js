// Elements of a page and of a picture, as all parts of the board make them.

const SVG = "http://www.w3.org/2000/svg";

export function add(parent, tag, name = "", attributes = {}) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

export function button(parent, text, key, act) {
  const made = add(parent, "button", "azb-button", { type: "button" });
  made.textContent = text;
  if (key) made.title = `${text} (key ${key.toUpperCase()} on the board)`;
  made.addEventListener("click", act);
  return made;
}

// A button for each name. Those there already stay the same elements, so that they keep the focus.
export function keepButtons(parent, names, act) {
  const old = new Map([...parent.children].map((each) => [each.textContent, each]));
  const buttons = names.map((name) => old.get(name) ?? button(parent, name, "", () => act(name)));
  for (const each of old.values()) if (!buttons.includes(each)) each.remove();
  buttons.forEach((each, n) => {
    if (parent.children[n] !== each) parent.insertBefore(each, parent.children[n]);
  });
  return buttons;
}

export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function svgText(text, x, y, size) {
  const made = svgElement("text", { x, y, "font-size": size });
  made.textContent = text;
  return made;
}

export function fill(group, content, transform) {
  group.innerHTML = content;
  if (transform) group.setAttribute("transform", transform);
  else group.removeAttribute("transform");
}

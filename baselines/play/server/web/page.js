// What all pages of `azumaya serve` share: addresses, requests, elements, and which page is shown.

export const ROOT = new URL("../", import.meta.url); // a proxy may have put all pages below a prefix
export const main = document.getElementById("main");
const what = document.getElementById("what");

// `visit` is the number of the page shown: what comes late for an earlier one is dropped.
// `wake` asks again for what the page waits for, if anything.
export const shown = { visit: 0, wake: () => {} };

// The address of a page or a file of the server.
export function at(path) {
  return new URL(path, ROOT).href;
}

export async function ask(path, body, method = body ? "POST" : "GET", signal = undefined) {
  const request = method === "GET" ? {} : {
    method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  };
  const answer = await fetch(at(`api/${path}`), { ...request, signal }).catch(() => {
    throw new Error("the server cannot be reached");
  });
  const content = await answer.json().catch(() => null); // what stands between may answer with a page
  if (answer.ok && content !== null) return content;
  const message = content?.error ?? `the server failed: status ${answer.status}`;
  // An answer that was cut off tells as little as none.
  throw Object.assign(new Error(message), { status: answer.ok ? undefined : answer.status });
}

let asked = null;

// What the server offers. It stays the same, so it is asked once.
export async function choices() {
  asked ??= ask("choices");
  return asked.catch((problem) => {
    asked = null;
    throw problem;
  });
}

export function add(parent, tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

export function entitle(title, words) {
  document.title = title;
  what.textContent = words;
}

// What this browser remembers; some have forbidden it, and then nothing is remembered.
export function remembered(key, usual) {
  try {
    return JSON.parse(localStorage.getItem(`azumaya-${key}`)) ?? usual;
  } catch {
    return usual;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(`azumaya-${key}`, JSON.stringify(value));
  } catch { /* the next visit begins with the defaults */ }
}

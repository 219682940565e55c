// Elements without markup: whatever a text holds, it stays text.

const byId = (id) => document.getElementById(id);

/** Make an element.  Attributes that are null or false are left out; children are nodes or text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, set] of Object.entries(value)) made.style.setProperty(key, set);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const read = (id) => JSON.parse(byId(id).textContent);

// What is shown at the moment; everything on the page follows from it and from the data.
const data = read("data");
const texts = read("texts");
const state = {
  lang: data.lang,
  tab: data.start,
  run: 0, // of data.runs
  batch: data.kept.batches[0],
  head: data.kept.heads[0],
  cell: null, // {stage, i, j}: places among what is kept; the cell whose arithmetic stays in view
  token: null, // {side: "query" or "key", place}: looked at instead of a cell
  first: { query: 0, key: 0 }, // of the window on what is kept
  step: 0,
};

/** Say a text of the language in use, with values in its places. */
function say(key, values = {}) {
  const text = texts[state.lang][key];
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

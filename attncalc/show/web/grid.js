// A stage as a table: a heat map with numbers that can be walked through with the arrow keys.

const WINDOW = { query: 24, key: 24, column: 32, value: 32, layer: 64 };

/** The places of a kind that are in the window. */
function visible(kind, count) {
  const first = kind in state.first ? state.first[kind] : 0;
  const end = Math.min(first + WINDOW[kind], count);
  return Array.from({ length: end - first }, (_, n) => first + n);
}

function panel(name) {
  const array = stage(name);
  if (!array || (name === "allowed" && Object.keys(part().blocked_by).length === 0)) return null;
  const { letter } = STAGES[name];
  const title = letter ?? (name === "layer" ? say("stage.layer") : name);
  return element(
    "section",
    { class: `panel ${name}`, "aria-label": `${title}: ${say(`stage.${name}.what`)}` },
    element("h3", {}, title, element("span", { class: "what" }, say(`stage.${name}.formula`))),
    element("div", { class: "scroll" }, table(name, array, title)),
    beyond(name, array),
  );
}

function table(name, array, title) {
  const { rows, columns, tone } = STAGES[name];
  const width = columns === null ? 1 : array.values[0].length;
  const down = visible(rows, array.values.length);
  const across = columns === null ? [null] : visible(columns, width);
  const most = tone === "share" ? 1 : largest(array.values);
  const head = across.map((j) =>
    element("th", { scope: "col" }, columns === null ? name : columns === "key" ? chip("key", j) : label(columns, j)),
  );
  const body = down.map((i) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, chip(rows, i)),
      across.map((j) => cell(name, array, i, j, most)),
    ),
  );
  return element(
    "table",
    { role: "grid", "data-stage": name, "aria-label": title },
    element("thead", {}, element("tr", {}, element("td", { class: "corner" }), head)),
    element("tbody", {}, body),
  );
}

/** A token that can be pressed to see what it attends to, or who attends to it. */
function chip(kind, place) {
  const what = say(kind === "query" ? "token.query.ask" : "token.key.ask", { name: long(kind, place) });
  return element(
    "button",
    {
      type: "button",
      class: "chip",
      tabindex: "-1",
      "data-token": kind,
      "data-place": place,
      "aria-label": what,
      title: what,
    },
    label(kind, place),
  );
}

function cell(name, array, i, j, most) {
  const value = j === null ? array.values[i] : array.values[i][j];
  const hidden = STAGES[name].marks && !allowed(i, j);
  const text = hidden && value === 0 ? "×" : write(value, array.notation);
  const made = element("td", { role: "gridcell", tabindex: "-1", "data-i": i, "data-j": j ?? "" }, text);
  if (hidden) {
    made.classList.add("blocked");
    made.setAttribute("aria-label", `${text}, ${say("blocked")}`);
  } else if (STAGES[name].tone !== "none" && most > 0) {
    const heat = finite(value) / most;
    made.style.setProperty("--heat", Math.abs(heat).toFixed(3));
    if (heat < 0) made.classList.add("negative");
  }
  return made;
}

/** Say which part of a large stage is in the window. */
function beyond(name, array) {
  const { rows, columns } = STAGES[name];
  const width = columns === null ? 1 : array.values[0].length;
  const all = [KINDS[rows].count, columns === null ? 1 : (KINDS[columns]?.count ?? width)];
  const shown = [visible(rows, array.values.length).length, columns === null ? 1 : visible(columns, width).length];
  if (shown[0] === all[0] && shown[1] === all[1]) return null;
  return element("p", { class: "faint" }, say("window", { shown: shown.join(" × "), all: all.join(" × ") }));
}

// ── walking ──────────────────────────────────────────────────────────────────────────────────────────────

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Move the focus inside a grid; labels of rows and columns belong to it. */
function walk(event) {
  const here = event.target.closest("td[role=gridcell], th");
  const step = ARROWS[event.key];
  if (!here || (!step && event.key !== "Home" && event.key !== "End")) return;
  const line = here.parentElement;
  const lines = [...line.closest("table").rows];
  let [row, column] = [lines.indexOf(line), here.cellIndex];
  if (event.key === "Home") column = 0;
  else if (event.key === "End") column = line.cells.length - 1;
  else [row, column] = [row + step[0], column + step[1]];
  const there = lines[row]?.cells[column];
  const target = there && (there.matches("[role=gridcell]") ? there : there.querySelector(".chip"));
  if (!target) return;
  event.preventDefault();
  target.focus();
}

/** Give each grid exactly one place that the Tab key stops at: the cell in view, or the first. */
function placeStops() {
  for (const grid of document.querySelectorAll("[role=grid]")) {
    for (const stop of grid.querySelectorAll("[tabindex='0']")) stop.tabIndex = -1;
    const chosen = grid.querySelector(".active") ?? grid.querySelector("[role=gridcell]");
    if (chosen) chosen.tabIndex = 0;
  }
}

// The stages, the inspector beside them, and the controls above them.

function drawControls() {
  const here = byId("controls");
  const kept = document.activeElement?.id;
  here.replaceChildren(
    ...[
      choice("batch", data.axes.batch, data.kept.batches),
      choice("head", data.axes.head, data.kept.heads),
      causalSwitch(),
      scales(),
      pager("query"),
      pager("key"),
    ].filter(Boolean),
  );
  if (kept) byId(kept)?.focus();
}

function choice(name, has, places) {
  if (!has || places.length < 2) return null;
  const options = places.map((n) => element("option", { value: n, selected: n === state[name] }, String(n)));
  const change = (event) => {
    state[name] = Number(event.target.value);
    redraw();
  };
  return element("label", { class: "control" }, say(name), element("select", { id: `choose-${name}`, onchange: change }, options));
}

/** The run with another causal mask or scale, if the page holds it. */
const runWith = (causal, scale) => data.runs.findIndex((each) => each.causal === causal && each.scale === scale);

function take(place) {
  state.run = place;
  redraw();
  showStep();
}

function causalSwitch() {
  const other = runWith(!run().causal, run().scale);
  const fault = other < 0 ? say("variants.left.out") : data.runs[other].fault;
  return element(
    "button",
    {
      type: "button",
      id: "causal",
      class: "control switch",
      role: "switch",
      "aria-checked": String(run().causal),
      "aria-disabled": fault ? "true" : null,
      title: fault || say("causal.what"),
      onclick: () => (fault ? announce(fault) : take(other)),
    },
    element("span", { class: "knob", "aria-hidden": "true" }),
    say("causal"),
  );
}

function scales() {
  const known = [...new Set(data.runs.map((each) => each.scale))].sort((a, b) => a - b);
  const buttons = known.map((scale) => {
    const place = runWith(run().causal, scale);
    const fault = place < 0 ? say("variants.left.out") : data.runs[place].fault;
    const usual = data.runs.find((each) => each.scale === scale).usual;
    const root = `1/√${data.sizes.d}`;
    return element(
      "button",
      {
        type: "button",
        id: `scale-${known.indexOf(scale)}`,
        "aria-pressed": String(scale === run().scale),
        "aria-disabled": fault ? "true" : null,
        title: fault || null,
        "data-scale": String(scale),
        onclick: () => (fault ? announce(fault) : take(place)),
      },
      usual && data.sizes.d !== 1 ? `${root} = ${write(scale)}` : scale === 1 ? say("scale.none") : write(scale),
    );
  });
  return element("div", { class: "control segments", role: "group", "aria-label": say("scale") }, element("span", {}, say("scale")), buttons);
}

/** Buttons that move the window on a sequence that is too long to be shown at once. */
function pager(kind) {
  const { kept } = KINDS[kind];
  if (kept.length <= WINDOW[kind]) return null;
  const first = state.first[kind];
  const last = Math.min(first + WINDOW[kind], kept.length) - 1;
  const move = (by) => () => {
    state.first[kind] = Math.max(0, Math.min(first + by, kept.length - WINDOW[kind]));
    redraw();
  };
  const button = (key, sign, by, possible) =>
    element("button", { type: "button", id: `${kind}-${key}`, "aria-label": say(`pager.${key}`), disabled: !possible, onclick: move(by) }, sign);
  return element(
    "div",
    { class: "control pager", role: "group", "aria-label": say(`tokens.${kind}`) },
    button("back", "◀", -WINDOW[kind], first > 0),
    element("span", {}, `${short(kind, first)} – ${short(kind, last)}`, element("span", { class: "faint" }, ` / ${KINDS[kind].count}`)),
    button("on", "▶", WINDOW[kind], last < kept.length - 1),
  );
}

function drawFlow() {
  const groups = GROUPS.map(({ name, stages }) => {
    const panels = stages.map(panel).filter(Boolean);
    return element(
      "section",
      { class: `group ${name}` },
      element("h2", {}, say(`group.${name}`), element("span", { class: "what" }, say(`group.${name}.what`))),
      element("div", { class: "panels" }, panels, name === "weights" ? tokenMap() : null),
    );
  });
  byId("flow").replaceChildren(...groups);
}

/** Light up a cell and what it is made from. */
function lightUp(cell) {
  for (const lit of document.querySelectorAll("#flow .active, #flow .source")) lit.classList.remove("active", "source");
  if (state.token) {
    const { kind, place } = state.token;
    mark("weights", kind === "query" ? place : null, kind === "query" ? null : place, "source");
    return;
  }
  if (!cell) return;
  mark(cell.stage, cell.i, cell.j, "active");
  for (const [name, i, j] of sources(cell)) mark(name, i, j, "source");
}

function mark(name, i, j, look) {
  const row = i === null ? "" : `[data-i="${i}"]`;
  const column = j === null || j === undefined ? "" : `[data-j="${j}"]`;
  for (const found of document.querySelectorAll(`#flow [data-stage=${name}] td${row}${column}`)) found.classList.add(look);
}

function inspect(cell) {
  const nothing = [element("h2", {}, say("inspector")), prose("inspector.empty")];
  byId("arithmetic").replaceChildren(...(state.token ? attention(state.token) : cell ? arithmetic(cell).filter(Boolean) : nothing).filter(Boolean));
}

/** Say something to those who listen to the page. */
function announce(text) {
  byId("said").textContent = text;
}

function look(cell) {
  fold(false);
  state.cell = cell;
  state.token = null;
  inspect(cell);
  lightUp(cell);
  placeStops();
  refreshMap();
}

function lookAtToken(kind, place) {
  state.token = isToken(kind, place) ? null : { kind, place };
  fold(false);
  inspect(state.cell);
  lightUp(state.cell);
  refreshMap();
  if (state.token) announce(byId("arithmetic").textContent);
}

/** Draw the lines between tokens again; the buttons stay, and so does the focus. */
function refreshMap() {
  const map = document.querySelector("#flow .map");
  for (const button of map.querySelectorAll(".chip")) {
    button.setAttribute("aria-pressed", String(isToken(button.dataset.token, Number(button.dataset.place))));
  }
  map.querySelector("svg").replaceWith(
    lines(visible("query", KINDS.query.kept.length), visible("key", KINDS.key.kept.length)),
  );
}

/** On a phone the arithmetic lies over the numbers: it shows its first line until a number is touched. */
function fold(folded) {
  byId("inspector").classList.toggle("folded", folded);
  byId("fold").setAttribute("aria-expanded", String(!folded));
}

function cellAt(target) {
  const found = target.closest?.("td[role=gridcell]");
  if (!found) return null;
  const { i, j } = found.dataset;
  return { stage: found.closest("table").dataset.stage, i: Number(i), j: j === "" ? null : Number(j) };
}

/** Draw everything that depends on run, batch, head, window and language. */
function redraw() {
  const focus = cellAt(document.activeElement);
  if (state.cell && !stage(state.cell.stage)) state.cell = null;
  drawControls();
  drawFlow();
  inspect(state.cell);
  lightUp(state.cell);
  placeStops();
  byId("rules").textContent = Object.entries(run().rules).map(([name, text]) => `${say(`rules.${name}`)}: ${text}`).join(" · ");
  if (focus) document.querySelector(`[data-stage=${focus.stage}] td[data-i="${focus.i}"][data-j="${focus.j ?? ""}"]`)?.focus();
}

function listenToFlow() {
  const flow = byId("flow");
  flow.addEventListener("pointerover", (event) => {
    const cell = event.pointerType === "mouse" ? cellAt(event.target) : null;
    if (!cell || state.token) return;
    inspect(cell);
    lightUp(cell);
  });
  flow.addEventListener("pointerleave", () => {
    inspect(state.cell);
    lightUp(state.cell);
  });
  flow.addEventListener("focusin", (event) => {
    const cell = cellAt(event.target);
    if (!cell) return;
    look(cell);
    announce([...document.querySelectorAll("#arithmetic h2, #arithmetic .worked")].map((part) => part.textContent).join(". "));
  });
  flow.addEventListener("click", (event) => {
    const pressed = event.target.closest(".chip");
    if (pressed) lookAtToken(pressed.dataset.token, Number(pressed.dataset.place));
    else if (cellAt(event.target)) look(cellAt(event.target));
  });
  flow.addEventListener("keydown", walk);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.token) lookAtToken(state.token.kind, state.token.place);
  });
}

// The stages, the inspector beside them, and what happens when one points, presses or walks.

function drawFlow() {
  const groups = GROUPS.map(({ name, stages }) => {
    const panels = stages.map(panel).filter(Boolean);
    return element(
      "section",
      { class: `group ${name}` },
      element("h2", {}, say(`group.${name}`), element("span", { class: "what" }, say(`group.${name}.what`))),
      element("div", { class: "panels" }, panels, name === "weights" ? [overview(), tokenMap()] : null),
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
  for (const found of document.querySelectorAll(`#flow [data-stage=${name}] td${row}${column}`))
    found.classList.add(look);
}

function inspect(cell) {
  const nothing = [element("h2", {}, say("inspector")), prose("inspector.empty")];
  byId("arithmetic").replaceChildren(
    ...(state.token ? attention(state.token) : cell ? arithmetic(cell).filter(Boolean) : nothing).filter(Boolean),
  );
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
  map
    .querySelector("svg")
    .replaceWith(lines(visible("query", KINDS.query.kept.length), visible("key", KINDS.key.kept.length)));
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
  byId("rules").textContent = Object.entries(run().rules)
    .map(([name, text]) => `${say(`rules.${name}`)}: ${text}`)
    .join(" · ");
  if (focus)
    document.querySelector(`[data-stage=${focus.stage}] td[data-i="${focus.i}"][data-j="${focus.j ?? ""}"]`)?.focus();
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
    announce(
      [...document.querySelectorAll("#arithmetic h2, #arithmetic .worked")].map((part) => part.textContent).join(". "),
    );
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

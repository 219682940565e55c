// What can be chosen: batch and head, the causal mask and the scale of the run, and the window on a long sequence.

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
  return element(
    "label",
    { class: "control" },
    say(name),
    element("select", { id: `choose-${name}`, onchange: change }, options),
  );
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
  return element(
    "div",
    { class: "control segments", role: "group", "aria-label": say("scale") },
    element("span", {}, say("scale")),
    buttons,
  );
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
    element(
      "button",
      {
        type: "button",
        id: `${kind}-${key}`,
        "aria-label": say(`pager.${key}`),
        disabled: !possible,
        onclick: move(by),
      },
      sign,
    );
  return element(
    "div",
    { class: "control pager", role: "group", "aria-label": say(`tokens.${kind}`) },
    button("back", "◀", -WINDOW[kind], first > 0),
    element(
      "span",
      {},
      `${short(kind, first)} – ${short(kind, last)}`,
      element("span", { class: "faint" }, ` / ${KINDS[kind].count}`),
    ),
    button("on", "▶", WINDOW[kind], last < kept.length - 1),
  );
}

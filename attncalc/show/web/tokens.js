// Who attends to whom: queries on the left, keys on the right, a line for every weight.

const LEAST = 0.005; // of the largest weight: less is not drawn
const LINES = 400; // more lines than this are a grey block: only those of the chosen token are drawn then

function tokenMap() {
  const [queries, keys] = [visible("query", KINDS.query.kept.length), visible("key", KINDS.key.kept.length)];
  const side = (kind, places) =>
    element(
      "ul",
      { class: `side ${kind}`, "aria-label": say(`tokens.${kind}`) },
      places.map((place) => {
        const made = chip(kind, place);
        made.removeAttribute("tabindex");
        made.setAttribute("aria-pressed", String(isToken(kind, place)));
        return element("li", {}, made);
      }),
    );
  return element(
    "section",
    { class: "panel tokens", "aria-label": say("tokens") },
    element("h3", {}, say("tokens"), element("span", { class: "what" }, say("tokens.what"))),
    element("div", { class: "map" }, side("query", queries), lines(queries, keys), side("key", keys)),
  );
}

const isToken = (kind, place) => state.token?.kind === kind && state.token.place === place;

/** Whether a weight belongs to what is looked at: the token, or else the row of the cell. */
function inView(i, j) {
  if (state.token) return state.token.place === (state.token.kind === "query" ? i : j);
  return (
    !state.cell || !["weights", "scores", "raw", "scaled", "output"].includes(state.cell.stage) || state.cell.i === i
  );
}

function lines(queries, keys) {
  const height = Math.max(queries.length, keys.length);
  const drawing = svg("svg", { viewBox: `0 0 100 ${height * 10}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  drawing.style.setProperty("--lines", height);
  const weights = stage("weights").values;
  const most = Math.max(...queries.flatMap((i) => keys.map((j) => finite(weights[i][j])))) || 1; // of those in the window
  const few = queries.length * keys.length <= LINES;
  for (const [row, i] of queries.entries()) {
    for (const [column, j] of keys.entries()) {
      const weight = finite(weights[i][j]) / most;
      const chosen = inView(i, j);
      if (weight < LEAST || (!few && !chosen)) continue;
      const [from, to] = [(row + 0.5) * 10, (column + 0.5) * 10];
      const path = svg("path", { d: `M0 ${from} C40 ${from} 60 ${to} 100 ${to}`, class: chosen ? "chosen" : "other" });
      path.style.setProperty("--weight", weight.toFixed(3));
      drawing.append(path);
    }
  }
  return drawing;
}

/** The list behind a token: what a query attends to, or who attends to a key; the strongest first. */
function attention({ kind, place }) {
  const weights = stage("weights");
  const other = kind === "query" ? "key" : "query";
  const pairs = KINDS[other].kept.map((_, n) => (kind === "query" ? { n, i: place, j: n } : { n, i: n, j: place }));
  const seen = pairs.filter(({ i, j }) => allowed(i, j));
  seen.sort((a, b) => finite(weights.values[b.i][b.j]) - finite(weights.values[a.i][a.j]));
  const hidden = pairs.filter(({ i, j }) => !allowed(i, j)).map(({ n }) => long(other, n));
  const items = seen.map(({ n, i, j }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("bdi", {}, long(other, n))),
      element("td", {}, bar(finite(weights.values[i][j]), write(weights.values[i][j], weights.notation))),
    ),
  );
  const title = say(kind === "query" ? "token.query" : "token.key", { name: long(kind, place) });
  return [
    element("h2", {}, element("bdi", {}, title)),
    items.length
      ? element(
          "div",
          { class: "scroll", tabindex: "0" },
          element(
            "table",
            { class: "working" },
            element(
              "thead",
              {},
              element(
                "tr",
                {},
                element("th", { scope: "col" }, say(other)),
                element("th", { scope: "col" }, say("weight")),
              ),
            ),
            element("tbody", {}, items),
          ),
        )
      : prose("token.none"),
    hidden.length
      ? prose(kind === "query" ? "token.hidden" : "token.hidden.from", {
          names: hidden.slice(0, 30).join(", ") + (hidden.length > 30 ? " …" : ""),
        })
      : null,
    prose(kind === "query" ? "token.query.note" : "token.key.note"),
  ];
}

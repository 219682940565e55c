// Where things stand in the data.

const run = () => data.runs[state.run];
const part = () => run().parts[`${state.batch},${state.head}`];
const stored = (place) => data.arrays[place];

/** The array of a stage: {notation, values}, or undefined where this run has none. */
function stage(name) {
  const place = name === "layer" ? run().layers[state.batch] : part().stages[name];
  return place === undefined ? undefined : stored(place);
}

/** Which mask blocks a cell: names, none where it is allowed. */
function blockers(i, j) {
  return Object.entries(part().blocked_by)
    .filter(([, place]) => stored(place).values[i][j] === "1")
    .map(([name]) => say(`mask.${name}`));
}

const allowed = (i, j) => stage("allowed").values[i][j] === "1";

// Rows and columns are of one of these kinds; `letter` and `kept` say how they are named.
const KINDS = {
  query: { letter: "q", kept: data.kept.queries, count: data.sizes.T },
  key: { letter: "k", kept: data.kept.keys, count: data.sizes.S },
  column: { letter: "d", kept: data.kept.columns, count: data.sizes.d },
  value: { letter: "d", kept: data.kept.value_columns, count: data.sizes.d_v },
};

/** The number that a place among what is kept has in the whole input. */
const indexOf = (kind, place) => (KINDS[kind] ? KINDS[kind].kept[place] : place);

const token = (kind, place) => data.tokens[kind]?.[indexOf(kind, place)] ?? null;

/** `q1`, `k0`, `d2`. */
const short = (kind, place) => (KINDS[kind]?.letter ?? "d") + indexOf(kind, place);

/** `q1 cat`. */
function long(kind, place) {
  const word = token(kind, place);
  return word === null ? short(kind, place) : `${short(kind, place)} ${word}`;
}

/** A label of two parts, so that the word can be cut off where there is no room, and never be markup. */
function label(kind, place) {
  const word = token(kind, place);
  return [element("span", { class: "index" }, short(kind, place)), word === null ? null : element("bdi", {}, word)];
}

/** The largest size of a finite number in rows. */
const largest = (rows) => rows.flat().reduce((most, value) => Math.max(most, Math.abs(finite(value))), 0);

// The arithmetic behind a cell.  Every sum, exponential and weight is attncalc's own; the page multiplies two
// numbers where it shows a single term, which is exact in the narrow types and rounded once in float64.

const SHORT = 16; // keys that are listed one by one, blocked or not

const number = (name, i, j) => {
  const array = stage(name);
  return write(j === undefined ? array.values[i] : array.values[i][j], array.notation);
};

const times = (left, right) => `${left} × ${bracketed(right)}`;

const line = (...pieces) => element("p", { class: "worked" }, ...pieces);

const prose = (key, values) => element("p", {}, say(key, values));

/** A cell as one writes it: weights[1, 0]. */
function nameOf({ stage: name, i, j }) {
  const { letter, rows, columns } = STAGES[name];
  const index = j === null ? indexOf(rows, i) : `${indexOf(rows, i)}, ${indexOf(columns, j)}`;
  return `${letter ?? (name === "layer" ? say("stage.layer") : name)}[${index}]`;
}

/** The value of a cell as text. */
const valueOf = ({ stage: name, i, j }) => number(name, i, j === null ? undefined : j);

/** Tell how a cell came about: an element for the inspector. */
function arithmetic(cell) {
  const { stage: name, i, j } = cell;
  const tell = TELL[name];
  const { rows, columns } = STAGES[name];
  const place = columns === "key" ? [long(rows, i), " · ", long(columns, j)] : [long(rows, i)];
  return [
    element("h2", {}, nameOf(cell), element("output", { class: "value" }, ` = ${valueOf(cell)}`)),
    element("p", { class: "place" }, element("bdi", {}, ...place)),
    ...tell(i, j, cell),
  ];
}

const TELL = {
  query: (i) => [prose("tell.query", { name: long("query", i) }), vector("query", i, "column")],
  key: (i) => [prose("tell.key", { name: long("key", i) }), vector("key", i, "column")],
  value: (i) => [prose("tell.value", { name: long("key", i) }), vector("value", i, "value")],

  raw(i, j) {
    const [left, right] = [stage("query"), stage("key")];
    const terms = left.values[i].map((factor, c) => ({
      label: short("column", c),
      factors: [write(factor, left.notation), write(right.values[j][c], right.notation)],
      product: factor * right.values[j][c],
      gap: gapAfter("column", c),
    }));
    return [
      prose("tell.raw"),
      sumLine(`${short("query", i)} · ${short("key", j)}`, terms, number("raw", i, j)),
      termsTable(terms, [say("column"), short("query", i), short("key", j), say("product")], number("raw", i, j)),
    ];
  },

  scaled(i, j) {
    const scale = write(run().scale);
    const why = run().usual ? "tell.scaled.usual" : run().scale === 1 ? "tell.scaled.none" : "tell.scaled.given";
    return [
      prose(why, { d: data.sizes.d, scale }),
      line(`${number("raw", i, j)} × ${bracketed(scale)} = ${number("scaled", i, j)}`),
    ];
  },

  capped(i, j) {
    const cap = write(run().softcap);
    return [
      prose("tell.capped", { cap }),
      line(`${cap} × tanh(${number("scaled", i, j)} / ${cap}) = ${number("capped", i, j)}`),
    ];
  },

  biased(i, j) {
    const bias = bracketed(number("bias", i, j));
    return [prose("tell.biased"), line(`${number(before("biased"), i, j)} + ${bias} = ${number("biased", i, j)}`)];
  },

  scores(i, j) {
    const was = before("scores");
    if (allowed(i, j)) return [prose("tell.scores.allowed"), line(`${was} = ${number(was, i, j)}`)];
    return [
      prose("tell.scores.blocked", { reasons: blockers(i, j).join(", ") }),
      line(`${number(was, i, j)} → ${number("scores", i, j)}`),
    ];
  },

  weights: (i, j) => softmaxRow(i, j),

  lse: (i) => [
    prose("tell.lse"),
    line(`m + ln(${say("sum")}) = ${number("maximum", i)} + ln(${number("sum", i)}) = ${number("lse", i)}`),
  ],

  output(i, j) {
    const [weights, value] = [stage("weights"), stage("value")];
    const { kept, rest } = taking(i, null);
    const terms = kept.map((k) => [k, weights.values[i][k]]).map(([k, weight]) => ({
      label: long("key", k),
      factors: [write(weight, weights.notation), write(value.values[k][j], value.notation)],
      product: weight === 0 ? 0 : weight * value.values[k][j],
      gap: gapAfter("key", k),
      blocked: !allowed(i, k),
    }));
    const head = [say("key"), say("weight"), `V[·, ${indexOf("value", j)}]`, say("product")];
    return [
      prose("tell.output", { name: long("query", i), column: short("value", j) }),
      sumLine(nameOf({ stage: "output", i, j }), terms.filter((term) => !term.blocked), number("output", i, j)),
      termsTable(terms, head, number("output", i, j), rest),
    ];
  },

  layer: () => [prose("tell.layer")],
};

/** Whether something is left out between this place and the next. */
const gapAfter = (kind, place) =>
  place + 1 < KINDS[kind].kept.length && KINDS[kind].kept[place + 1] !== KINDS[kind].kept[place] + 1;

function vector(name, i, kind) {
  const array = stage(name);
  const items = array.values[i].map((value, c) =>
    element("li", {}, element("span", { class: "index" }, short(kind, c)), write(value, array.notation)),
  );
  return element("ul", { class: "vector" }, items);
}

/** The whole sum on one line, as long as it is readable. */
function sumLine(name, terms, total) {
  if (terms.length > 6 || terms.some((term) => term.gap)) return null;
  return line(`${name} = ${terms.map((term) => times(bracketed(term.factors[0]), term.factors[1])).join(" + ")} = ${total}`);
}

function termsTable(terms, head, total, rest = null) {
  const most = Math.max(...terms.map((term) => Math.abs(finite(term.product))), 0) || 1;
  const body = terms.flatMap((term) => [
    element(
      "tr",
      { class: term.blocked ? "blocked" : null },
      element("th", { scope: "row" }, element("bdi", {}, term.label)),
      element("td", {}, term.factors[0]),
      element("td", {}, term.factors[1]),
      element("td", {}, bar(finite(term.product) / most, write(Number.isNaN(term.product) ? "nan" : term.product))),
    ),
    term.gap ? element("tr", {}, element("td", { colspan: 4, class: "faint" }, "⋮")) : null,
  ]);
  const sum = element("tr", { class: "total" }, element("th", { scope: "row" }, say("sum")), element("td"), element("td"), element("td", {}, total));
  return working(head, [...body, rest], sum);
}

/** Of a long row, the keys that take part, and the one that is looked at; how many others there are is said. */
function taking(i, j) {
  const all = stage("weights").values[i].map((_, k) => k);
  const kept = all.length <= SHORT ? all : all.filter((k) => allowed(i, k) || k === j);
  const hidden = all.length - kept.length;
  const rest = hidden ? element("tr", {}, element("td", { colspan: 4, class: "faint" }, say("rest", { count: hidden }))) : null;
  return { kept, rest };
}

function softmaxRow(i, j) {
  const [scores, exponentials, weights] = ["scores", "exponentials", "weights"].map(stage);
  const m = number("maximum", i);
  const empty = finite(stage("sum").values[i]) === 0;
  if (empty) return [prose("tell.weights.empty"), line(`${nameOf({ stage: "weights", i, j })} = ${number("weights", i, j)}`)];
  const { kept, rest } = taking(i, j);
  const rows = kept.flatMap((k) => [
    element(
      "tr",
      { class: [allowed(i, k) ? "" : "blocked", k === j ? "active" : ""].join(" ").trim() || null },
      element("th", { scope: "row" }, element("bdi", {}, long("key", k))),
      element("td", {}, write(scores.values[i][k], scores.notation)),
      element("td", {}, write(exponentials.values[i][k], exponentials.notation)),
      element("td", {}, bar(finite(weights.values[i][k]), write(weights.values[i][k], weights.notation))),
    ),
    gapAfter("key", k) ? element("tr", {}, element("td", { colspan: 4, class: "faint" }, "⋮")) : null,
  ]);
  rows.push(rest);
  const { sink } = part();
  if (sink) {
    const e = stored(sink.exponential);
    rows.push(
      element("tr", {}, element("th", { scope: "row" }, say("sink")), element("td", {}, write(sink.logit)), element("td", {}, write(e.values[i], e.notation)), element("td")),
    );
  }
  const sum = element("tr", { class: "total" }, element("th", { scope: "row" }, say("sum")), element("td"), element("td", {}, number("sum", i)), element("td"));
  return [
    prose(allowed(i, j) ? "tell.weights" : "tell.weights.blocked"),
    line(`m = max = ${m}`),
    line(
      `${nameOf({ stage: "weights", i, j })} = exp(${number("scores", i, j)} − ${bracketed(m)}) / ${say("sum")} = ` +
        `${number("exponentials", i, j)} / ${number("sum", i)} = ${number("weights", i, j)}`,
    ),
    working([say("key"), say("score"), "exp(score −\u00a0m)", say("weight")], rows, sum),
  ];
}

function working(head, body, sum) {
  return element(
    "div",
    { class: "scroll", tabindex: "0" },
    element(
      "table",
      { class: "working" },
      element("thead", {}, element("tr", {}, head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, body),
      element("tfoot", {}, sum),
    ),
  );
}

/** A number with a bar behind it: its share, to the left where it is negative. */
function bar(share, text) {
  return element(
    "span",
    { class: share < 0 ? "bar negative" : "bar", style: { "--share": Math.min(Math.abs(share), 1).toFixed(3) } },
    text,
  );
}

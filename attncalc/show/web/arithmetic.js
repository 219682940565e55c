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

  allowed(i, j) {
    const masks = Object.entries(part().blocked_by).map(([name, place]) => {
      const blocks = stored(place).values[i][j] === "1";
      return line(`${blocks ? "×" : "✓"} ${say(`mask.${name}`)}`);
    });
    return [prose("tell.allowed"), ...masks];
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
    const terms = kept
      .map((k) => [k, weights.values[i][k]])
      .map(([k, weight]) => ({
        label: long("key", k),
        factors: [write(weight, weights.notation), write(value.values[k][j], value.notation)],
        product: weight === 0 ? 0 : weight * value.values[k][j],
        gap: gapAfter("key", k),
        blocked: !allowed(i, k) && weight === 0, // a query without any key may get the mean of all
      }));
    const head = [say("key"), say("weight"), `V[·, ${indexOf("value", j)}]`, say("product")];
    return [
      prose("tell.output", { name: long("query", i), column: short("value", j) }),
      sumLine(
        nameOf({ stage: "output", i, j }),
        terms.filter((term) => !term.blocked),
        number("output", i, j),
      ),
      termsTable(terms, head, number("output", i, j), rest),
    ];
  },

  layer: () => [prose("tell.layer")],
};

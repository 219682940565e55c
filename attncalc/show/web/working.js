// How the arithmetic is set: a sum on one line, terms below each other, a number with a bar beside it.

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
  if (terms.length === 0 || terms.length > 6 || terms.some((term) => term.gap)) return null;
  return line(
    `${name} = ${terms.map((term) => times(bracketed(term.factors[0]), term.factors[1])).join(" + ")} = ${total}`,
  );
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
  const sum = element(
    "tr",
    { class: "total" },
    element("th", { scope: "row" }, say("sum")),
    element("td"),
    element("td"),
    element("td", {}, total),
  );
  return working(head, [...body, rest], sum);
}

/** Of a long row, the keys that take part, and the one that is looked at; how many others there are is said. */
function taking(i, j) {
  const weights = stage("weights").values[i];
  const all = weights.map((_, k) => k);
  const kept = all.length <= SHORT ? all : all.filter((k) => allowed(i, k) || k === j || weights[k] !== 0);
  const hidden = all.length - kept.length;
  const rest = hidden
    ? element("tr", {}, element("td", { colspan: 4, class: "faint" }, say("rest", { count: hidden })))
    : null;
  return { kept, rest };
}

function softmaxRow(i, j) {
  const [scores, exponentials, weights] = ["scores", "exponentials", "weights"].map(stage);
  const m = number("maximum", i);
  const empty = finite(stage("sum").values[i]) === 0;
  if (empty)
    return [prose("tell.weights.empty"), line(`${nameOf({ stage: "weights", i, j })} = ${number("weights", i, j)}`)];
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
      element(
        "tr",
        {},
        element("th", { scope: "row" }, say("sink")),
        element("td", {}, write(sink.logit)),
        element("td", {}, write(e.values[i], e.notation)),
        element("td"),
      ),
    );
  }
  const sum = element(
    "tr",
    { class: "total" },
    element("th", { scope: "row" }, say("sum")),
    element("td"),
    element("td", {}, number("sum", i)),
    element("td"),
  );
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
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          head.map((text) => element("th", { scope: "col" }, text)),
        ),
      ),
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

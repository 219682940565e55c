// The stages in the order in which they follow from each other, in groups that stand beside each other.

const GROUPS = [
  { name: "inputs", stages: ["query", "key", "value"] },
  { name: "scores", stages: ["raw", "scaled", "capped", "biased", "allowed", "scores", "lse"] },
  { name: "weights", stages: ["weights"] },
  { name: "output", stages: ["output", "layer"] },
];

// rows and columns: kinds of data.js, null for a single number a row.  tone: how a number becomes a colour, by its
// share of 1, or by its sign and its share of the largest size.
const STAGES = {
  query: { letter: "Q", rows: "query", columns: "column", tone: "signed" },
  key: { letter: "K", rows: "key", columns: "column", tone: "signed" },
  value: { letter: "V", rows: "key", columns: "value", tone: "signed" },
  raw: { rows: "query", columns: "key", tone: "signed" },
  scaled: { rows: "query", columns: "key", tone: "signed" },
  capped: { rows: "query", columns: "key", tone: "signed" },
  biased: { rows: "query", columns: "key", tone: "signed" },
  allowed: { rows: "query", columns: "key", tone: "none", marks: true },
  scores: { rows: "query", columns: "key", tone: "signed", marks: true },
  weights: { rows: "query", columns: "key", tone: "share", marks: true },
  lse: { rows: "query", columns: null, tone: "none" },
  output: { rows: "query", columns: "value", tone: "signed" },
  layer: { rows: "query", columns: "layer", tone: "signed" },
};

/** What a cell is made from, as cells and rows to be lit up with it: [stage, i, j], null for a whole row or column. */
function sources({ stage: name, i, j }) {
  switch (name) {
    case "raw":
      return [
        ["query", i, null],
        ["key", j, null],
      ];
    case "scaled":
      return [["raw", i, j]];
    case "capped":
      return [["scaled", i, j]];
    case "biased":
      return [[stage("capped") ? "capped" : "scaled", i, j]];
    case "scores":
      return [
        [before("scores"), i, j],
        ["allowed", i, j],
      ];
    case "weights":
      return [["scores", i, null]];
    case "lse":
      return [["scores", i, null]];
    case "output":
      return [
        ["weights", i, null],
        ["value", null, j],
      ];
    default:
      return [];
  }
}

/** The stage from which `capped`, `biased` or `scores` is made; those that change nothing are not in the data. */
function before(name) {
  const order = ["raw", "scaled", "capped", "biased", "scores"];
  return order.slice(0, order.indexOf(name)).findLast((each) => stage(each));
}

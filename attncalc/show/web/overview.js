// The weights of a sequence that is too long for one table, a dot for each: press to move the tables there.

/** A panel with all the weights that the page holds, or nothing where the table shows them all. */
function overview() {
  const [rows, columns] = [KINDS.query.kept.length, KINDS.key.kept.length];
  if (rows <= WINDOW.query && columns <= WINDOW.key) return null;
  const canvas = element("canvas", { width: columns, height: rows, role: "img", "aria-label": say("overview.what") });
  const frame = element("span", { class: "frame", "aria-hidden": "true", style: framePlace(rows, columns) });
  const go = (event) => {
    const box = canvas.getBoundingClientRect();
    moveTo("query", ((event.clientY - box.top) / box.height) * rows);
    moveTo("key", ((event.clientX - box.left) / box.width) * columns);
    redraw();
  };
  paint(canvas);
  return element(
    "section",
    { class: "panel overview", "aria-label": say("overview") },
    element("h3", {}, say("overview"), element("span", { class: "what" }, say("overview.what"))),
    element("div", { class: "sheet", onclick: go }, canvas, frame),
  );
}

/** Where the window lies on the sheet, in shares of its size. */
function framePlace(rows, columns) {
  const share = (n, all) => `${(100 * Math.min(n, all)) / all}%`;
  return {
    left: share(state.first.key, columns),
    top: share(state.first.query, rows),
    width: share(WINDOW.key, columns),
    height: share(WINDOW.query, rows),
  };
}

/** Put the middle of the window at a place. */
function moveTo(kind, place) {
  const last = Math.max(0, KINDS[kind].kept.length - WINDOW[kind]);
  state.first[kind] = Math.round(Math.max(0, Math.min(place - WINDOW[kind] / 2, last)));
}

/** Draw a dot for each weight; roots, so that small weights can be seen beside large ones. */
function paint(canvas) {
  const weights = stage("weights").values;
  const most = largest(weights) || 1;
  const pen = canvas.getContext("2d");
  const picture = pen.createImageData(canvas.width, canvas.height);
  const [red, green, blue] = [11, 92, 173]; // --accent on a light page; it reads on a dark one, too
  weights
    .flat()
    .forEach((weight, n) => picture.data.set([red, green, blue, 255 * Math.sqrt(finite(weight) / most)], 4 * n));
  pen.putImageData(picture, 0, 0);
}

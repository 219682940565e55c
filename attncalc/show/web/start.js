// Language, light and dark, and the first drawing.

/** Put the texts of the language in use into the parts of the page that are not drawn by scripts. */
function translate() {
  document.documentElement.lang = state.lang;
  document.title = say("title");
  for (const here of document.querySelectorAll("[data-text]")) here.textContent = say(here.dataset.text);
  for (const here of document.querySelectorAll("[data-label]"))
    here.setAttribute("aria-label", say(here.dataset.label));
  for (const here of document.querySelectorAll("[data-title]")) here.title = say(here.dataset.title);
  const other = Object.keys(texts).find((lang) => lang !== state.lang);
  byId("language").textContent = texts[other]["language"];
  byId("language").lang = other;
  for (const here of document.querySelectorAll("#answer > [lang]"))
    here.hidden = here.lang !== state.lang && document.querySelector(`#answer > [lang="${state.lang}"]`) !== null;
  drawLeftOut();
}

/** Say what a large input has lost on its way into the page. */
function drawLeftOut() {
  const counts = {
    batches: data.sizes.B,
    heads: data.sizes.H,
    queries: data.sizes.T,
    keys: data.sizes.S,
    columns: data.sizes.d,
    value_columns: data.sizes.d_v,
  };
  const said = Object.entries(counts)
    .filter(([name, count]) => data.kept[name].length < count && !(data.chosen ?? []).includes(name))
    .map(([name, count]) => say(`kept.${name}`, { kept: data.kept[name].length, count }));
  if (!data.variants) said.push(say("kept.variants"));
  byId("left-out").hidden = said.length === 0;
  byId("left-out").textContent = said.length ? `${say("kept")} ${said.join("; ")}. ${say("kept.more")}` : "";
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

function changeLanguage() {
  state.lang = Object.keys(texts).find((lang) => lang !== state.lang);
  translate();
  redraw();
  showStep();
}

byId("theme").addEventListener("click", toggleTheme);
byId("fold").addEventListener("click", () => fold(!byId("inspector").classList.contains("folded")));
byId("notes").replaceChildren(...data.notes.map((note) => element("li", {}, note)));
byId("language").addEventListener("click", changeLanguage);
listenToFlow();
listenToTabs();
listenToSteps();
const firstQuery = Math.max(0, data.kept.queries.indexOf(data.query));
state.first.query = Math.min(
  firstQuery < WINDOW.query ? 0 : firstQuery,
  Math.max(0, data.kept.queries.length - WINDOW.query),
);
state.cell = { stage: "weights", i: firstQuery, j: 0 };
translate();
redraw();
fold(true);
showTab(present(state.tab) ? state.tab : "explore");

// The three views: the numbers, the explanation step by step, and somebody's answer beside the right one.

const TABS = ["explore", "explanation", "answer"];

const present = (tab) => (tab === "explore" ? true : byId(tab).querySelector("article, div[lang]") !== null);

function showTab(tab) {
  state.tab = tab;
  for (const each of TABS) {
    const button = byId(`tab-${each}`);
    button.hidden = !present(each);
    button.setAttribute("aria-selected", String(each === tab));
    button.tabIndex = each === tab ? 0 : -1;
    byId(each).hidden = each !== tab;
  }
  byId("controls").hidden = tab === "answer";
  document.body.dataset.tab = tab;
  showStep();
}

function listenToTabs() {
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => showTab(tab));
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const shown = TABS.filter(present);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    const next = shown[(shown.indexOf(state.tab) + by + shown.length) % shown.length];
    showTab(next);
    byId(`tab-${next}`).focus();
  });
}

// ── the explanation ──────────────────────────────────────────────────────────────────────────────────────

/** The steps of the run and the language in use. */
const steps = () => [...document.querySelectorAll(`.step[data-run="${state.run}"][lang="${state.lang}"]`)];

function showStep() {
  const all = steps();
  state.step = Math.max(0, Math.min(state.step, all.length - 1));
  for (const step of document.querySelectorAll(".step")) {
    step.classList.toggle("current", step === all[state.step]);
    step.classList.toggle("printed", all.includes(step));
  }
  byId("previous").disabled = state.step === 0;
  byId("next").disabled = state.step >= all.length - 1;
  byId("step-list").replaceChildren(
    ...all.map((step, n) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            "aria-current": n === state.step ? "step" : null,
            title: step.querySelector("h2").textContent,
            "aria-label": step.querySelector("h2").textContent,
            onclick: () => goTo(n),
          },
          String(n + 1),
        ),
      ),
    ),
  );
}

function goTo(n) {
  state.step = n;
  showStep();
}

function listenToSteps() {
  byId("previous").addEventListener("click", () => goTo(state.step - 1));
  byId("next").addEventListener("click", () => goTo(state.step + 1));
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const busy = event.target.closest?.("select, [role=tablist], .scroll, pre");
    if (!by || busy || state.tab !== "explanation" || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    goTo(state.step + by);
  });
}

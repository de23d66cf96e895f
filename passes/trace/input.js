/* Keys, clicks, and the start: what the user does becomes calls of `page.js`. */

const KEYS = {
  j: () => goToPass(1),
  k: () => goToPass(-1),
  n: () => goToChange(1),
  p: () => goToChange(-1),
  "]": () => goToFunc(1),
  "[": () => goToFunc(-1),
  e: () => toggle("fold"),
  w: () => toggle("wrap"),
  s: () => toggle("beside"),
  "/": () => $("query").select(),
  "?": () => $("help").showModal(),
  Escape: forget,
};
const ROW_KEYS = {
  ArrowDown: () => goToRow(1),
  ArrowUp: () => goToRow(-1),
  ArrowRight: () => goToValue(1),
  ArrowLeft: () => goToValue(-1),
  Enter: enter,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target,
    typing = target.matches("input, select");
  if (typing && event.key !== "Escape") return;
  const inRows = target === $("scroll") || target === document.body;
  const action = KEYS[event.key] ?? (inRows ? ROW_KEYS[event.key] : undefined);
  if (!action) return;
  event.preventDefault();
  action();
}

function forget() {
  $("query").value = "";
  search("");
  Object.assign(state, { row: -1, value: -1, hovered: null });
  showCursor();
  $("scroll").focus({ preventScroll: true });
  location.replace(fragmentWith({}));
}

function toggle(what) {
  state[what] = !state[what];
  $(what).setAttribute("aria-pressed", state[what]);
  $("rows").classList.toggle("unwrapped", !state.wrap);
  $("rows").classList.toggle("beside", state.beside);
  if (what === "fold") {
    table.show(table.sides, state.fold);
    if (state.row >= 0) goTo(state.row);
  }
}

function onClick(event) {
  const cell = event.target.closest(".code, .home");
  if (!cell || String(getSelection())) return;
  const code = cell.matches(".code") ? cell : cell.previousElementSibling;
  state.row = Number(code.parentElement.dataset.row);
  showCursor();
  showPosition();
  const value = event.target.closest(".value:not(.definition)");
  if (value) goToDefinition(code.dataset.side, value.dataset.value);
  else if (code.dataset.home) chooseHome(code.dataset.home);
}

/* The arrows go from line to line in the source, as Tab would take too long. */
function onSourceKey(event) {
  const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!direction) return;
  event.preventDefault();
  const lines = [...$("source").querySelectorAll("button.line")];
  const at = lines.indexOf(document.activeElement);
  lines[at < 0 ? 0 : at + direction]?.focus();
}

function setPanelHeight(height) {
  const share = Math.min(Math.max(height / innerHeight, 0), 0.8);
  document.documentElement.style.setProperty("--panels", `${share * 100}vh`);
  $("splitter").setAttribute("aria-valuenow", Math.round(share * 100));
}

function onSplitterKey(event) {
  const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!direction) return;
  event.preventDefault();
  setPanelHeight($("panels").offsetHeight + direction * 32);
}

function listen() {
  addEventListener("hashchange", applyAddress);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => table.fillAll());
  $("scroll").addEventListener("fill", () => (showFound(), showCursor()));
  $("rows").addEventListener("click", onClick);
  $("rows").addEventListener("mouseover", (event) => hover(event.target.closest(".value")));
  $("rows").addEventListener("mouseleave", () => hover(null));
  $("source").addEventListener("keydown", onSourceKey);
  $("splitter").addEventListener("keydown", onSplitterKey);
  $("splitter").addEventListener("pointerdown", (event) =>
    $("splitter").setPointerCapture(event.pointerId),
  );
  $("splitter").addEventListener(
    "pointermove",
    (event) => event.buttons && setPanelHeight(innerHeight - event.clientY),
  );
  $("func").addEventListener("change", (event) => setFunc(event.target.value));
  $("query").addEventListener("input", (event) => search(event.target.value));
  $("search").addEventListener("submit", (event) => event.preventDefault());
  $("query").addEventListener(
    "keydown",
    (event) => event.key === "Enter" && goToMatch(event.shiftKey ? -1 : 1),
  );
  $("next").addEventListener("click", () => goToChange(1));
  $("previous").addEventListener("click", () => goToChange(-1));
  for (const what of ["fold", "wrap", "beside"])
    $(what).addEventListener("click", () => toggle(what));
  $("help-button").addEventListener("click", () => $("help").showModal());
}

$("file").textContent = data.title;
$("pipeline").textContent = data.pipeline;
showFacts($("facts"));
showPasses($("passes").firstElementChild, $("timeline"));
listen();
applyAddress();

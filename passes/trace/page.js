/* What is shown, as the address says: `#pass=3&func=main&after=12&source=model.py:7`. */

const OPENED_AT_ONCE = 40;
const $ = (id) => document.getElementById(id);
const state = {
  pass: -1,
  func: -1,
  places: [],
  hovered: null,
  fold: true,
  wrap: true,
  beside: false,
  query: "",
  row: -1,
  value: -1,
};
const marks = new CSSStyleSheet();
document.adoptedStyleSheets = [marks];
const table = new Rows($("rows"), $("scroll"));
const placeName = (place) => `${data.files[data.places[place][0]].name}:${data.places[place][1]}`;
const placeNamed = new Map(data.places.map((_, place) => [placeName(place), place]));
let counts = { before: new Map(), after: new Map() };

/* The address */

function fragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/* The address of this pass and func with something else in it. */
function fragmentWith(extra) {
  const address = new URLSearchParams({ pass: state.pass });
  if (data.funcs.length > 1) address.set("func", data.funcs[state.func]);
  for (const [name, value] of Object.entries(extra))
    [value].flat().forEach((each) => address.append(name, each));
  return `#${address}`;
}

function firstPass() {
  const failed = steps.findIndex((each) => each.error);
  return failed >= 0
    ? failed
    : Math.max(
        steps.findIndex((_, number) => number && !quiet(number)),
        0,
      );
}

/* The func that is asked for, or that is shown, or one in which the pass changes something. */
function funcFor(pass, asked) {
  const named = data.funcs.indexOf(asked);
  if (named >= 0) return named;
  const changed = data.funcs.map((_, func) => func).filter((func) => changedLines(pass, func));
  return changed.includes(state.func) ? state.func : (changed[0] ?? Math.max(state.func, 0));
}

function applyAddress() {
  const address = fragment();
  const asked = Number(address.get("pass") ?? NaN);
  const pass =
    Number.isInteger(asked) && steps[asked] ? asked : state.pass < 0 ? firstPass() : state.pass;
  const func = funcFor(pass, address.get("func"));
  if (pass !== state.pass || func !== state.func) showPass(pass, func);
  if (address.has("find")) (($("query").value = address.get("find")), search($("query").value));
  select(address.getAll("source").flatMap((each) => placeNamed.get(each) ?? []));
  for (const side of ["before", "after"])
    if (address.has(side)) goTo(table.indexOf(side, Number(address.get(side))));
}

/* Passes and funcs */

function showPass(pass, func) {
  Object.assign(state, { pass, func, row: -1, value: -1 });
  const step = steps[pass];
  document.querySelectorAll("#passes a, #timeline a").forEach((link) => {
    const current = link.getAttribute("href") === `#pass=${pass}`;
    if (current) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
    if (current && link.closest("#passes")) link.scrollIntoView({ block: "nearest" });
  });
  $("name").replaceChildren(step.name, element("span", { className: "options" }, step.options));
  $("summary").textContent = step.summary;
  $("error").textContent = step.error ?? "";
  $("error").hidden = !step.error;
  showFuncs();
  showComparison();
}

function showFuncs() {
  $("func-label").hidden = data.funcs.length < 2;
  $("func").replaceChildren(
    ...data.funcs.map((name, func) => {
      const count = changedLines(state.pass, func);
      return element(
        "option",
        { value: name, selected: func === state.func },
        count ? `@${name} · ${counted(count, "changed line")}` : `@${name}`,
      );
    }),
  );
}

function showComparison() {
  const sides = comparison(state.func, state.pass);
  $("rows").classList.toggle("one-file", data.files.length === 1);
  $("rows").style.setProperty("--digits", String(sides.rows.length).length);
  table.show(sides, state.fold);
  $("lines-before").textContent = counted(sides.before.length, "line");
  $("lines-after").textContent = counted(sides.after.length, "line");
  counts = {
    before: placesOf("before", sides.rows, sides.before),
    after: placesOf("after", sides.rows, sides.after),
  };
  showRewrites($("rewrites"), $("rewrites-title"), state.pass, state.func, goToApplication);
  showSource($("source"), counts, (place) => choose([place]));
  search(state.query);
  showPosition();
  showMarks();
  showFirstChange();
}

function showFirstChange() {
  const row = table.changes.length ? table.reveal(table.changes[0]) : null;
  if (row && row.offsetTop + row.offsetHeight > $("scroll").clientHeight)
    row.scrollIntoView({ block: "center" });
}

function showPosition() {
  const all = table.changes.length;
  const at = table.changes.filter((change) => change <= state.row).length;
  $("position").textContent = !all
    ? "no change"
    : at
      ? `${at} of ${counted(all, "change")}`
      : counted(all, "change");
  $("previous").disabled = $("next").disabled = !all;
}

/* Going somewhere */

function goTo(index, { focused = true, block = "center" } = {}) {
  const row = index < 0 ? null : table.reveal(index);
  if (!row) return;
  state.row = index;
  state.value = -1;
  row.scrollIntoView({ block });
  if (focused) $("scroll").focus({ preventScroll: true });
  showCursor();
  showPosition();
  $("announcement").textContent = row.innerText.replaceAll("\t", " ");
}

function showCursor() {
  document.querySelectorAll("#rows .cursor").forEach((each) => each.classList.remove("cursor"));
  const row = state.row < 0 || table.foldAround(state.row) ? null : table.reveal(state.row);
  row?.classList.add("cursor");
  row?.querySelectorAll(".value")[state.value]?.classList.add("cursor");
  return row;
}

function goToChange(direction) {
  const all = table.changes;
  const next =
    direction > 0
      ? all.find((change) => change > state.row)
      : all.findLast((change) => change < state.row);
  if (all.length) goTo(next ?? (direction > 0 ? all[0] : all.at(-1)));
}

function goToPass(direction) {
  const next = state.pass + direction;
  if (steps[next]) location.hash = `pass=${next}`;
}

function goToFunc(direction) {
  const next = state.func + direction;
  if (data.funcs[next] !== undefined) setFunc(data.funcs[next]);
}

function setFunc(name) {
  location.hash = new URLSearchParams({ pass: state.pass, func: name });
}

function goToDefinition(side, value) {
  const index = table.definition(side, value);
  if (index >= 0) location.hash = fragmentWith({ [side]: table.rows[index][side] + 1 });
}

function goToApplication(op, home) {
  const rows = data.homes[home].flatMap((place) => counts.before.get(place) ?? []);
  const named = rows.find((row) =>
    table.textOf(table.rows[row], "before").includes(data.opNames[op]),
  );
  goTo(named ?? rows[0] ?? -1);
  chooseHome(home);
}

function goToRow(direction) {
  let next = state.row < 0 ? 0 : state.row + direction;
  const fold = table.foldAround(next);
  if (fold) next = direction > 0 ? fold[1] : fold[0] - 1;
  if (table.rows[next]) goTo(next, { block: "nearest" });
}

function goToValue(direction) {
  const values = showCursor()?.querySelectorAll(".value") ?? [];
  if (!values.length) return;
  state.value = Math.min(Math.max(state.value + direction, 0), values.length - 1);
  showCursor();
  hover(values[state.value]);
}

/* What Enter does: from a value to its definition, else from a line to its source. */
function enter() {
  const row = showCursor(),
    value = row?.querySelectorAll(".value")[state.value];
  if (value && !value.classList.contains("definition"))
    goToDefinition(value.closest(".code").dataset.side, value.dataset.value);
  else if (row)
    chooseHome((value?.closest(".code") ?? [...row.querySelectorAll(".code")].at(-1)).dataset.home);
}

/* Selecting the user's lines, and pointing at values */

function choose(places) {
  location.hash = fragmentWith({ source: places.map(placeName) });
}

function chooseHome(home) {
  if (data.homes[home].length) choose(data.homes[home]);
}

/* Show where these lines of the user are, and what comes from them; the rows move only if none of
   those is the one that the user has just been at. */
function select(places) {
  const isNew = String(places) !== String(state.places);
  state.places = places;
  showMarks();
  if (!places.length || !isNew) return;
  $("source").chunkOf.get(places[0])?.fill();
  document
    .querySelector(`#source [data-place="${places[0]}"]`)
    ?.scrollIntoView({ block: "center" });
  const found = ["before", "after"].flatMap((side) =>
    places.flatMap((place) => counts[side].get(place) ?? []),
  );
  const rows = [...new Set(found)].sort((one, other) => one - other);
  rows.slice(0, OPENED_AT_ONCE).forEach((row) => table.reveal(row));
  if (!rows.includes(state.row)) goTo(rows[0] ?? -1, { focused: false });
}

function hover(value) {
  state.hovered = value
    ? { side: value.closest(".code").dataset.side, value: value.dataset.value }
    : null;
  showMarks();
}

/* One small style sheet marks what is selected, also in rows that are made later. */
function showMarks() {
  marks.replaceSync([...rulesOfHovered(), ...rulesOfChosen()].join("\n"));
}

function rulesOfHovered() {
  if (!state.hovered) return [];
  const { side, value } = state.hovered;
  const other = side === "before" ? "after" : "before";
  const named = `[data-value="${value}"]`;
  return [
    `.${side} ${named} { background: var(--use); box-shadow: 0 0 0 1px var(--use-edge); }`,
    `.${side} .definition${named} { background: var(--definition); }`,
    `.${other} ${named} { text-decoration: underline dotted var(--use-edge) 2px; }`,
  ];
}

function rulesOfChosen() {
  if (!state.places.length) return [];
  const chosen = new Set(state.places);
  const lines = state.places.map((place) => `[data-place="${place}"]`);
  const homes = data.homes.flatMap((places, home) =>
    places.some((place) => chosen.has(place)) ? [`[data-home="${home}"]`] : [],
  );
  const cells = `.same .code:is(${homes}), .same .code:is(${homes}) + .home`;
  return [
    `.line:is(${lines}), .code:is(${homes}) { background-image: var(--bar); }`,
    `.line:is(${lines}), ${cells} { background-color: var(--chosen); }`,
  ];
}

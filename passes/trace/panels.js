/* What stands beside the rows: the passes, the timeline, the rewrites, and the user's source. */

const SHOWN_AT_ONCE = 200,
  OPEN_UP_TO = 24;

function showPasses(list, timeline) {
  const longest = Math.max(...steps.slice(1).map((each) => each.seconds), 1e-9);
  list.replaceChildren(
    ...steps.map((step, number) => element("li", {}, passLink(step, number, longest))),
  );
  timeline.replaceChildren(...steps.slice(1).map((step, at) => timeLink(step, at + 1)));
}

function quiet(number) {
  return !Object.keys(steps[number].edits).length && !steps[number].error;
}

function passLink(step, number, longest) {
  const bar = element("span", { className: "bar", ariaHidden: "true" });
  bar.style.width = number ? `${(step.seconds / longest) * 100}%` : 0;
  const link = element(
    "a",
    { href: `#pass=${number}`, className: "pass", title: step.summary },
    element("span", { className: "index" }, number || ""),
    element("span", { className: "name" }, step.name),
    element("span", { className: "time" }, duration(step.seconds)),
    element("span", { className: "options" }, step.options),
    element(
      "span",
      { className: "counts" },
      element("span", {}, opsText(step)),
      element(
        "span",
        { className: "applications" },
        step.error ? "failed" : rewritesText(step, number),
      ),
    ),
    element("span", { className: "track" }, bar),
    element("span", { className: "hits" }),
  );
  link.classList.toggle("quiet", quiet(number));
  link.classList.toggle("failed", Boolean(step.error));
  return link;
}

function opsText({ ops: [before, after] }) {
  return before === after ? `${shown(before)} ops` : `${shown(before)} → ${shown(after)} ops`;
}

function rewritesText(step, number) {
  const count = step.applications.length / 3;
  return count ? counted(count, "rewrite") : quiet(number) ? "no change" : "";
}

function timeLink(step, number) {
  const verifying = `then ${duration(step.verifying)} to verify`;
  const what = `${step.name}${step.options}: ${duration(step.seconds)}, ${verifying}`;
  const link = element(
    "a",
    { href: `#pass=${number}`, title: what, ariaLabel: what },
    element("span", {}, step.name),
  );
  link.style.flexGrow = step.seconds * 1e6;
  link.classList.toggle("failed", Boolean(step.error));
  return link;
}

function showFacts(facts) {
  const [before, after] = data.ops;
  const change = before ? Math.round((after / before - 1) * 100) : 0;
  const entries = [
    [
      "ops",
      `${shown(before)} → ${shown(after)}`,
      change ? `${change > 0 ? "+" : "−"}${Math.abs(change)} %` : "",
    ],
    ["rewrites", shown(steps[0].applications.length / 3), ""],
    ["passes", data.passes.length, ""],
    ["time", duration(steps[0].seconds), `+ ${duration(steps[0].verifying)} to verify`],
  ];
  facts.replaceChildren(
    ...entries.map(([name, value, more]) =>
      element(
        "div",
        {},
        element("dt", {}, name),
        element("dd", {}, String(value), " ", element("small", {}, more)),
      ),
    ),
  );
}

/* The rewrites of a step in one func: [rule, op, home]. */
function applicationsOf(number, func) {
  if (!number) return data.passes.flatMap((_, at) => applicationsOf(at + 1, func));
  const { applications, shares } = steps[number],
    found = [];
  let at = 0;
  for (const [name, count] of shares.length ? shares : [[func, applications.length / 3]])
    for (let each = 0; each < count; each++, at += 3)
      if (name === func) found.push(applications.slice(at, at + 3));
  return found;
}

/* The rewrites in groups, one for each rule; `go` is called with the op and home of one. */
function showRewrites(panel, title, number, func, go) {
  const all = applicationsOf(number, func),
    groups = new Map();
  for (const each of all)
    groups.has(each[0]) ? groups.get(each[0]).push(each) : groups.set(each[0], [each]);
  title.textContent = `Rewrites${all.length ? ` · ${shown(all.length)}` : ""}`;
  if (!all.length)
    panel.replaceChildren(element("p", { className: "none" }, "This pass noted no rewrite here."));
  else {
    const sorted = [...groups].sort(([, one], [, other]) => other.length - one.length);
    panel.replaceChildren(
      ...sorted.map(([rule, items]) => ruleGroup(rule, items, all.length <= OPEN_UP_TO, go)),
    );
  }
}

function ruleGroup(rule, items, open, go) {
  const [name, summary] = data.rules[rule],
    list = element("ol");
  const group = element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", { className: "count" }, `${shown(items.length)}×`),
      " ",
      element("b", {}, name),
      " ",
      element("code", {}, summary),
    ),
    list,
  );
  const fill = () => !list.childElementCount && appendItems(list, together(items), 0, go);
  group.addEventListener("toggle", fill);
  if (open) (fill(), (group.open = true));
  return group;
}

/* Applications to the same kind of op of the same lines are one item: [op, home, how many]. */
function together(items) {
  const found = new Map();
  for (const [, op, home] of items) {
    const known = found.get(`${op} ${home}`);
    if (known) known[2]++;
    else found.set(`${op} ${home}`, [op, home, 1]);
  }
  return [...found.values()];
}

function appendItems(list, items, from, go) {
  const shown = items.slice(from, from + SHOWN_AT_ONCE).map((item) => applicationItem(item, go));
  list.append(...shown);
  const left = items.length - from - SHOWN_AT_ONCE;
  if (left <= 0) return;
  const more = element("button", { type: "button", className: "more" }, `${shown(left)} more`);
  const item = element("li", {}, more);
  more.addEventListener("click", () => {
    item.remove();
    appendItems(list, items, from + SHOWN_AT_ONCE, go);
  });
  list.append(item);
}

function applicationItem([op, home, count], go) {
  const places = data.homes[home];
  const button = element(
    "button",
    { type: "button" },
    element("span", { className: "op" }, data.opNames[op]),
    " ",
    element("span", { className: "where" }, placesText(places)),
    " ",
    element("span", { className: "text" }, places.length ? sourceLine(places[0]).trim() : ""),
    element("span", { className: "where" }, count > 1 ? ` ${shown(count)}×` : ""),
  );
  button.addEventListener("click", () => go(op, home));
  return element("li", {}, button);
}

/* The user's files; beside each line, how many ops come from it before and after. */
function showSource(panel, counts, choose) {
  const numbered = new Map(data.places.map(([file, line], place) => [`${file}:${line}`, place]));
  panel.replaceChildren();
  panel.chunkOf = new Map();
  data.files.forEach((file, at) => {
    panel.append(element("h4", { title: file.name }, file.name));
    if (!file.parts.length)
      panel.append(
        element(
          "p",
          { className: "none" },
          "The file could not be read, or was left out of this page.",
        ),
      );
    const items = file.parts.flatMap(([first, texts], part) => [
      ...(part ? [{ gap: true }] : []),
      ...texts.map((text, offset) => ({
        line: first + offset,
        text,
        place: numbered.get(`${at}:${first + offset}`),
      })),
    ]);
    const make = (index) => sourceItem(items[index], counts, choose);
    for (let from = 0; from < items.length; from += CHUNK) {
      const chunk = new Chunk("div", from, Math.min(from + CHUNK, items.length), make, panel);
      panel.append(chunk.element);
      for (const { place } of items.slice(from, from + CHUNK)) panel.chunkOf.set(place, chunk);
    }
  });
  panel.firstElementChild?.nextElementSibling?.chunk?.fill();
}

function sourceItem({ gap, line, text, place }, counts, choose) {
  if (gap) return element("div", { className: "line gap" }, "⋯");
  const before = counts.before.get(place)?.length ?? 0,
    after = counts.after.get(place)?.length ?? 0;
  const used = before || after;
  const made = element(
    used ? "button" : "div",
    { className: "line", ...(used ? { type: "button", tabIndex: -1 } : {}) },
    element("span", { className: "number" }, line),
    element(
      "span",
      { className: "uses" },
      !used ? "" : before === after ? before : `${before} → ${after}`,
    ),
    element("span", { className: "text" }, text),
  );
  if (!used) return made;
  made.title = `${counted(before, "line")} of IR before the pass, ${after} after it`;
  made.dataset.place = place;
  made.classList.toggle("changed", before !== after);
  made.addEventListener("click", () => choose(place));
  return made;
}

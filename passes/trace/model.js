"use strict";

/* What the page knows: the data of `describe.py`, and the lines that it stands for. */

const data = JSON.parse(document.getElementById("data").textContent);
const KEEP = 0,
  REMOVE = 1,
  ADD = 2,
  CHANGE = 3;

// The pass of number 0 is all passes together; it has what a pass has.
const steps = [wholeRun(), ...data.passes];

function wholeRun() {
  const counted = new Map();
  for (const [func, count] of data.passes.flatMap((each) => each.shares))
    counted.set(func, (counted.get(func) ?? 0) + count);
  return {
    name: "All passes",
    options: "",
    summary: "The program as it was read, and as the last pass left it.",
    error: null,
    seconds: sum(data.passes, "seconds"),
    verifying: sum(data.passes, "verifying"),
    ops: data.ops,
    shares: [...counted],
    edits: data.whole,
    applications: data.passes.flatMap((each) => each.applications),
  };
}

function sum(items, key) {
  return items.reduce((total, item) => total + item[key], 0);
}

/* The runs of edits, one by one: [kind, how many lines, the first line that comes in]. */
function* runs(edits) {
  for (let at = 0; at < edits.length; at += 3) yield edits.slice(at, at + 3);
}

const versions = data.funcs.map((_, func) => [edited([], data.start[func] ?? [])]);

/* The lines of a func after so many passes, as indices into `data.lines`. */
function version(func, number) {
  const known = versions[func];
  while (known.length <= number) {
    const edits = data.passes[known.length - 1].edits[func];
    known.push(edits ? edited(known.at(-1), edits) : known.at(-1));
  }
  return known[number];
}

function edited(lines, edits) {
  const result = [];
  let at = 0;
  for (const [kind, count, first] of runs(edits))
    for (let each = 0; each < count; each++) {
      if (kind !== REMOVE) result.push(kind === KEEP ? lines[at] : first + each);
      if (kind !== ADD) at++;
    }
  return result;
}

/* Both sides of a step, and its rows: {kind, before, after}, places in the sides or -1. */
function comparison(func, number) {
  const sides = {
    before: version(func, Math.max(number - 1, 0)),
    after: version(func, number || data.passes.length),
  };
  const edits = steps[number].edits[func] ?? [KEEP, sides.before.length, 0];
  return { ...sides, rows: rowsOf(edits) };
}

function rowsOf(edits) {
  const rows = [];
  let before = 0,
    after = 0;
  let waiting = 0; // how many of the last rows have only a line that goes, and room beside it
  const step = {
    [REMOVE]: () => rows.push({ kind: "removed", before: before++, after: -1 }),
    [CHANGE]: () => rows.push({ kind: "changed", before: before++, after: after++ }),
    [ADD]: () => {
      if (waiting)
        Object.assign(rows[rows.length - waiting--], { kind: "replaced", after: after++ });
      else rows.push({ kind: "added", before: -1, after: after++ });
    },
  };
  const same = () => rows.push({ kind: "same", before: before++, after: after++ });
  for (const [kind, count] of runs(edits)) {
    for (let each = 0; each < count; each++) (step[kind] ?? same)();
    waiting = kind === REMOVE ? count : 0;
  }
  return rows;
}

/* The lines that a step takes out, changes or puts in, in any func, as places in `data.lines`. */
function* touchedLines(number) {
  for (const [func, edits] of Object.entries(steps[number].edits)) {
    const before = version(+func, Math.max(number - 1, 0));
    let at = 0;
    for (const [kind, count, first] of runs(edits))
      for (let each = 0; each < count; each++) {
        if (kind === REMOVE || kind === CHANGE) yield before[at];
        if (kind === ADD || kind === CHANGE) yield first + each;
        if (kind !== ADD) at++;
      }
  }
}

function changedLines(number, func) {
  let count = 0;
  for (const [kind, many] of runs(steps[number].edits[func] ?? []))
    if (kind === REMOVE || kind === ADD || kind === CHANGE) count += many;
  return count;
}

/* Where the lines of one side come from: place -> the rows with that place. */
function placesOf(side, rows, lines) {
  const found = new Map();
  rows.forEach((row, index) => {
    if (row[side] < 0) return;
    for (const place of data.homes[data.homeOfLine[lines[row[side]]]]) {
      if (!found.has(place)) found.set(place, []);
      found.get(place).push(index);
    }
  });
  return found;
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

function placeText(place) {
  const [file, line] = data.places[place];
  return `${baseName(data.files[file].name)}:${line}`;
}

/* `model.py:12, 15, loss.py:3` */
function placesText(places) {
  return places
    .map((place, at) =>
      data.places[places[at - 1]]?.[0] === data.places[place][0]
        ? data.places[place][1]
        : placeText(place),
    )
    .join(", ");
}

function sourceLine(place) {
  const [file, line] = data.places[place];
  const part = data.files[file].parts.find(
    ([first, texts]) => first <= line && line < first + texts.length,
  );
  return part ? part[1][line - part[0]] : "";
}

function duration(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  const milliseconds = seconds * 1000;
  return `${milliseconds.toFixed(milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0)} ms`;
}

function shown(number) {
  return number.toLocaleString("en");
}

function counted(count, noun) {
  return `${shown(count)} ${noun}${count === 1 ? "" : "s"}`;
}

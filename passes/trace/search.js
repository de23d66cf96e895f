/* Search: the lines of this pass, and how many lines each pass touches that contain the same. */

function search(query) {
  state.query = query;
  const found = matching();
  $("found").textContent = !query ? "" : found.length ? counted(found.length, "line") : "nothing";
  document
    .querySelectorAll("#passes .hits")
    .forEach((hits, number) => (hits.textContent = hitsText(number)));
  showFound();
}

const lowered = data.lines.map((line) => line.toLowerCase());

function matching() {
  const query = state.query.toLowerCase();
  if (!query) return [];
  const contains = (side, place) => place >= 0 && lowered[table.sides[side][place]].includes(query);
  return table.rows.flatMap((row, at) =>
    contains("before", row.before) || contains("after", row.after) ? [at] : [],
  );
}

/* How many lines that a pass touches contain what is searched for: where did it come from? */
function hitsText(number) {
  const query = state.query.toLowerCase();
  if (!query || !number) return "";
  let hits = 0;
  for (const line of touchedLines(number)) hits += lowered[line].includes(query);
  return hits ? `${shown(hits)} found in changes` : "";
}

function goToMatch(direction) {
  const found = matching();
  const next =
    direction > 0 ? found.find((row) => row > state.row) : found.findLast((row) => row < state.row);
  if (found.length) goTo(next ?? (direction > 0 ? found[0] : found.at(-1)), { focused: false });
}

/* Marks what is found in the rows that are made, where the browser can mark ranges of text. */
function showFound() {
  if (!CSS.highlights) return;
  const query = state.query.toLowerCase();
  const cells = query ? [...document.querySelectorAll("#rows td.code")] : [];
  CSS.highlights.set("found", new Highlight(...cells.flatMap((cell) => rangesIn(cell, query))));
}

function rangesIn(cell, query) {
  const text = cell.textContent.toLowerCase(),
    found = [];
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
    const range = new Range();
    range.setStart(...pointIn(cell, at));
    range.setEnd(...pointIn(cell, at + query.length));
    found.push(range);
  }
  return found;
}

/* The text node of a cell, and the offset in it, of a character. */
function pointIn(cell, offset) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (offset <= node.length) return [node, offset];
    offset -= node.length;
  }
  return [cell, cell.childNodes.length];
}

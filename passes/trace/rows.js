/* The table of rows, in chunks: rows are made when they come near the screen. */

const CONTEXT = 3,
  LEAST_FOLD = 5,
  CHUNK = 60,
  ROW_HEIGHT = 19,
  MARGIN = 800;

/* Items `from` to `to` of a long list in one element, which is filled when it is almost seen. */
class Chunk {
  constructor(tag, from, to, make, root) {
    Object.assign(this, { from, to, make, root, filled: false });
    this.element = document.createElement(tag);
    const room = element(
      tag === "tbody" ? "tr" : "div",
      {},
      ...(tag === "tbody" ? [element("td", {})] : []),
    );
    room.style.height = `${(to - from) * ROW_HEIGHT}px`;
    this.element.append(room);
    this.element.chunk = this;
    observerOf(root).observe(this.element);
  }

  fill() {
    if (this.filled) return;
    this.filled = true;
    const items = [];
    for (let each = this.from; each < this.to; each++) items.push(this.make(each));
    this.element.replaceChildren(...items);
    this.root.dispatchEvent(new Event("fill"));
  }
}

const observers = new Map();

function observerOf(root) {
  if (!observers.has(root)) {
    const seen = (entries) =>
      entries.filter((each) => each.isIntersecting).forEach((each) => each.target.chunk.fill());
    observers.set(root, new IntersectionObserver(seen, { root, rootMargin: `${MARGIN}px 0px` }));
  }
  return observers.get(root);
}

/* An element with properties and children; texts become text, never markup. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/* The rows of one comparison; the root hears of "fill" when rows were made. */
class Rows {
  constructor(table, root) {
    Object.assign(this, { table, root, sides: null, rows: [], changes: [] });
  }

  show(sides, folded) {
    Object.assign(this, { sides, rows: sides.rows });
    this.changes = this.rows.flatMap((row, at) =>
      row.kind !== "same" && (this.rows[at - 1]?.kind ?? "same") === "same" ? [at] : [],
    );
    this.definitions = { before: null, after: null };
    for (const body of [...this.table.tBodies])
      (observerOf(this.root).unobserve(body), body.remove());
    for (const [from, to, fold] of this.stretches(folded))
      this.table.append(...this.bodies(from, to, fold));
    this.fillScreen();
    this.root.scrollTop = 0;
  }

  /* Make the first rows at once: waiting until they are seen would show an empty table first. */
  fillScreen() {
    let made = 0;
    for (const { chunk } of this.table.tBodies) {
      if (made > CHUNK) return;
      chunk?.fill();
      made += chunk ? chunk.to - chunk.from : 1;
    }
  }

  /* [from, to, whether it is folded]: the header and the surroundings of changes stay open. */
  stretches(folded) {
    const all = this.rows.length;
    if (!folded || !this.changes.length) return [[0, all, false]];
    const open = new Uint8Array(all);
    open[0] = 1;
    this.rows.forEach(
      (row, at) => row.kind !== "same" && open.fill(1, Math.max(at - CONTEXT, 0), at + CONTEXT + 1),
    );
    const found = [];
    for (let at = 0; at < all;) {
      let to = at;
      while (to < all && open[to] === open[at]) to++;
      const fold = !open[at] && to - at >= LEAST_FOLD;
      if (!fold && found.length && !found.at(-1)[2]) found.at(-1)[1] = to;
      else found.push([at, to, fold]);
      at = to;
    }
    return found;
  }

  bodies(from, to, fold) {
    if (fold) return [this.folded(from, to)];
    const made = [];
    for (let at = from; at < to; at += CHUNK)
      made.push(
        new Chunk("tbody", at, Math.min(at + CHUNK, to), (each) => this.row(each), this.root)
          .element,
      );
    return made;
  }

  folded(from, to) {
    const button = element(
      "button",
      { type: "button" },
      `… ${counted(to - from, "unchanged line")}`,
    );
    const body = element(
      "tbody",
      { className: "fold" },
      element("tr", {}, element("td", { colSpan: 6 }, button)),
    );
    body.range = [from, to];
    button.addEventListener("click", () => {
      this.unfold(body);
      this.root.focus({ preventScroll: true });
    });
    return body;
  }

  unfold(body) {
    const made = this.bodies(...body.range, false);
    body.replaceWith(...made);
    made[0].chunk.fill();
  }

  row(index) {
    const row = this.rows[index];
    const lines = { before: this.textOf(row, "before"), after: this.textOf(row, "after") };
    const made = {
      before: lines.before && tokens(lines.before),
      after: lines.after && tokens(lines.after),
    };
    const marks = row.kind === "changed" ? differing(made.before, made.after) : [];
    const cells = ["before", "after"].flatMap((side, at) =>
      this.cells(row, side, lines[side], made[side], marks[at]),
    );
    const result = element("tr", { className: row.kind }, ...cells);
    result.dataset.row = index;
    return result;
  }

  cells(row, side, text, line, marks) {
    if (text === null) return [element("td", { className: "absent", colSpan: 3 })];
    const home = this.homeOf(row, side),
      number = row[side] + 1;
    const link = element(
      "a",
      { href: fragmentWith({ [side]: number }), tabIndex: -1 },
      String(number),
    );
    const code = element("td", { className: `code ${side}` }, ...colouredLine(text, line, marks));
    const indent = text.search(/\S/) + 4;
    code.style.paddingInlineStart = `calc(${indent}ch + 0.5rem)`;
    code.style.textIndent = `-${indent}ch`;
    Object.assign(code.dataset, { side, home });
    return [
      element("td", { className: `number ${side}` }, link),
      code,
      homeCell(data.homes[home], side),
    ];
  }

  textOf(row, side) {
    return row[side] < 0 ? null : data.lines[this.sides[side][row[side]]];
  }

  homeOf(row, side) {
    return row[side] < 0 ? -1 : data.homeOfLine[this.sides[side][row[side]]];
  }

  /* The row of an index, which is made, and unfolded, if need be. */
  reveal(index) {
    for (const body of this.table.tBodies) {
      const [from, to] = body.range ?? [body.chunk.from, body.chunk.to];
      if (index < from || index >= to) continue;
      if (body.range) {
        this.unfold(body);
        return this.reveal(index);
      }
      body.chunk.fill();
      return body.rows[index - from];
    }
    return null;
  }

  /* The folded range [from, to] around an index, if it is folded. */
  foldAround(index) {
    return [...this.table.tBodies]
      .map((body) => body.range)
      .find((range) => range && range[0] <= index && index < range[1]);
  }

  /* The index of the row that defines a value on one side, or -1. */
  definition(side, value) {
    if (!this.definitions[side]) {
      const found = (this.definitions[side] = new Map());
      this.rows.forEach((row, at) => {
        const text = this.textOf(row, side);
        if (text !== null) for (const name of definedIn(text)) found.set(name, at);
      });
    }
    return this.definitions[side].get(value) ?? -1;
  }

  indexOf(side, number) {
    return this.rows.findIndex((row) => row[side] === number - 1);
  }

  fillAll() {
    for (const body of this.table.tBodies) body.chunk?.fill();
  }
}

/* Where a line comes from: `model.py:12 +1`, and what stands there. */
function homeCell(places, side) {
  if (!places.length) return element("td", { className: `home ${side}` });
  const [first, ...others] = places;
  const where = data.files.length > 1 ? placeText(first) : String(data.places[first][1]);
  const more = others.length ? ` +${others.length}` : "";
  const title = places
    .map((place) => `${placeText(place)}  ${sourceLine(place).trim()}`)
    .join("\n");
  const text = element("span", { className: "text" }, sourceLine(first).trim());
  return element(
    "td",
    { className: `home ${side}`, title },
    element("span", { className: "where" }, where + more),
    " ",
    text,
  );
}

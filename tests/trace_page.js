/* What the tests do in a page of `brimstone trace`, and what they see; test_trace_page.py says what
   it should be. Each scenario begins at an address. */

const later = () => new Promise((done) => setTimeout(done, 30));
const text = (selector) => document.querySelector(selector)?.textContent.trim() ?? null;
const texts = (selector) =>
  [...document.querySelectorAll(selector)].map((each) =>
    each.innerText.replace(/\s+/g, " ").trim(),
  );
const style = (node) => getComputedStyle(node);
const click = async (node) => (node.click(), await later());
const cursor = () => text("tr.cursor .code");

async function press(...keys) {
  for (const key of keys) {
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
    await later();
  }
}

async function visit(address) {
  forget();
  document.activeElement.blur();
  await later();
  Object.assign(state, { pass: -1, func: -1 });
  location.hash = address;
  applyAddress();
  await later();
}

const scenarios = {};

scenarios.start = [
  "",
  () => ({
    pass: text("#name"),
    file: text("#file"),
    pipeline: text("#pipeline"),
    facts: texts("#facts div"),
    passes: texts("#passes .name"),
    quiet: texts("#passes .quiet .name"),
    counts: texts("#passes .counts"),
  }),
];

scenarios.passes = [
  "pass=1",
  async () => {
    const shown = () => [
      text("#name"),
      location.hash,
      text("#passes [aria-current] .name"),
      document.querySelectorAll("[aria-current]").length,
    ];
    const seen = [shown()];
    for (const keys of [["j"], ["j", "j", "j", "j"], ["k"], ["k", "k", "k", "k", "k"]])
      (await press(...keys), seen.push(shown()));
    await click(document.querySelector("#timeline a:nth-child(2)"));
    return [...seen, shown()];
  },
];

scenarios.marks = [
  "pass=2",
  () => ({
    before: texts(".changed .before .mark"),
    after: texts(".changed .after .mark"),
    kinds: ["same", "changed", "removed", "added", "replaced"].map(
      (kind) => table.rows.filter((row) => row.kind === kind).length,
    ),
    aligned: [...document.querySelectorAll("tr.same")].every(
      (row) =>
        row.querySelector(".code.before").textContent ===
        row.querySelector(".code.after").textContent,
    ),
    signs: [".removed .number.before", ".changed .number.after"].map(
      (cell) => getComputedStyle(document.querySelector(cell), "::after").content,
    ),
  }),
];

scenarios.changes = [
  "pass=2",
  async () => {
    const seen = [[text("#position"), cursor()]];
    for (const key of ["n", "n", "p", "p"])
      (await press(key), seen.push([text("#position"), cursor()]));
    return seen;
  },
];

scenarios.folds = [
  "pass=2",
  async () => {
    const count = () => document.querySelectorAll("#rows tr[data-row]").length;
    const before = count(),
      button = document.querySelector(".fold button"),
      label = button.textContent;
    await click(button);
    const opened = count() - before;
    await press("e");
    const all = count() === table.rows.length && !document.querySelector(".fold");
    const pressed = $("fold").getAttribute("aria-pressed");
    await press("e");
    return { label, opened, all, pressed, again: count() === before };
  },
];

scenarios.toggles = [
  "pass=1",
  async () => {
    const height = () => $("rows").offsetHeight,
      source = () => style(document.querySelector("td.home .text")).display;
    const wrapped = height(),
      hidden = source();
    await press("w");
    const cut = height();
    await press("w", "s");
    const shown = [source(), text("td.home .text")];
    await press("s");
    return { shorter: cut < wrapped, hidden, shown };
  },
];

scenarios.values = [
  "pass=2",
  async () => {
    const named = (side) => [
      ...document.querySelectorAll(`.code.${side} [data-value="%shifted_0"]`),
    ];
    const plain = style(named("before")[0]).backgroundColor;
    const marked = (side) =>
      named(side).filter((each) => style(each).backgroundColor !== plain).length;
    const use = named("before").at(-1);
    use.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    const hovered = [named("before").length, marked("before"), marked("after")];
    $("rows").dispatchEvent(new MouseEvent("mouseleave"));
    const left = marked("before");
    await click(use);
    const jumped = [cursor(), location.hash];
    history.back();
    await later();
    return { hovered, left, jumped, back: location.hash };
  },
];

scenarios.keyboard = [
  "pass=1",
  async () => {
    $("scroll").focus();
    await press("ArrowDown", "ArrowDown", "ArrowDown");
    const line = cursor();
    await press("ArrowRight", "ArrowRight");
    const value = text(".value.cursor");
    await press("Enter");
    const definition = cursor(),
      spoken = text("#announcement");
    await press("Enter");
    return { line, value, definition, spoken, chosen: location.hash };
  },
];

scenarios.source = [
  "pass=1",
  async () => {
    const barred = (selector) =>
      [...document.querySelectorAll(selector)].filter(
        (each) => style(each).backgroundImage !== "none",
      );
    const ops = (side) =>
      barred(`.code.${side}`).map((cell) => cell.querySelector(".op").textContent);
    const line = [...document.querySelectorAll("button.line")].find((each) =>
      each.innerText.includes("activity"),
    );
    const uses = line.querySelector(".uses").textContent;
    await click(line);
    const fromLine = {
      before: ops("before"),
      after: ops("after"),
      hash: location.hash,
      cursor: cursor(),
    };
    await click(
      [...document.querySelectorAll(".code.after")]
        .find((each) => each.textContent.includes("%product_1 ="))
        .querySelector(".op"),
    );
    const fromRow = barred(".line").map((each) => each.querySelector(".text").textContent.trim());
    await press("Escape");
    return { uses, fromLine, fromRow, forgotten: ops("before").length, hash: location.hash };
  },
];

scenarios.rewrites = [
  "pass=1",
  async () => {
    const groups = texts("#rewrites summary"),
      items = texts("#rewrites details:first-child li");
    await click(document.querySelector("#rewrites li button"));
    return { title: text("#rewrites-title"), groups, items, hash: location.hash, cursor: cursor() };
  },
];

scenarios.search = [
  "pass=1",
  async () => {
    await press("/");
    const focused = document.activeElement.id;
    $("query").value = "TENSOR.TANH";
    $("query").dispatchEvent(new Event("input"));
    const found = [text("#found"), CSS.highlights.get("found").size, texts("#passes .hits")];
    const seen = [];
    for (let each = 0; each < 4; each++) (await press("Enter"), seen.push(cursor().split(" ")[0]));
    await press("j");
    const typing = text("#name");
    await press("Escape");
    return {
      focused,
      found,
      seen,
      typing,
      left: [$("query").value, CSS.highlights.get("found").size],
    };
  },
];

scenarios.funcs = [
  "pass=2",
  async () => {
    const options = texts("#func option"),
      shown = () => [$("func").value, text("#rows td.code").split("(")[0], location.hash];
    const seen = [shown()];
    await press("]", "]");
    seen.push(shown());
    await press("j");
    seen.push(shown());
    $("func").value = "main";
    $("func").dispatchEvent(new Event("change"));
    await later();
    return { options, seen: [...seen, shown()] };
  },
];

scenarios.address = [
  "pass=0&func=penalty&after=3&find=both",
  () => [text("#name"), text("tr.cursor .code.after"), text("#found")],
];
scenarios.nonsense = [
  "pass=99&func=none&before=7000&source=nothing:1&=&&after=x",
  () => [text("#name"), cursor()],
];

scenarios.names = [
  "pass=1",
  async () => {
    const named = (each) =>
      each.ariaLabel ||
      each.innerText.trim() ||
      each.title ||
      each.labels?.length ||
      each.getAttribute("aria-labelledby");
    const controls = [...document.querySelectorAll("a, button, select, input, [tabindex='0']")];
    const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
    $("source").focus();
    await press("ArrowDown", "ArrowDown");
    const line = document.activeElement.innerText;
    await press("?");
    const help = $("help").open;
    $("help").close();
    return {
      unnamed: controls.filter((each) => !named(each)).map((each) => each.outerHTML),
      line,
      help,
      doubled: ids.filter((id, at) => ids.indexOf(id) !== at),
      stops: controls.filter((each) => each.tabIndex >= 0).length,
    };
  },
];

scenarios.contrast = [
  "pass=1",
  () => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const behind = (node) => {
      const colour = rgba(style(node).backgroundColor);
      return colour[3] === 255 || !node.parentElement ? colour : behind(node.parentElement);
    };
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const light = ([red, green, blue]) =>
      0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255);
    const weak = new Set();
    const shown = [...document.querySelectorAll("body *")].filter(
      (node) =>
        [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim()) &&
        node.checkVisibility() &&
        !node.closest("script, :disabled"),
    );
    for (const node of shown) {
      const [darker, lighter] = [rgba(style(node).color), behind(node)]
        .map(light)
        .sort((one, other) => one - other);
      const contrast = (lighter + 0.05) / (darker + 0.05);
      if (contrast < 4.5)
        weak.add(
          `${contrast.toFixed(2)}: ${node.tagName} ${node.className} in ${node.parentElement.className}`,
        );
    }
    return { behind: behind(document.body).slice(0, 3), shown: shown.length, weak: [...weak] };
  },
];

scenarios.hostile = [
  "",
  async () => {
    await click(document.querySelector("button.line"));
    return {
      hacked: window.hacked ?? null,
      title: document.title,
      error: text("#error"),
      strings: texts(".code.after .string"),
      line: text("#source .line .text"),
      options: text("#name .options"),
      images: document.images.length,
      scripts: document.scripts.length,
      hash: location.hash,
    };
  },
];

scenarios.failure = [
  "",
  () => ({
    pass: text("#name"),
    error: text("#error"),
    hidden: $("error").hidden,
    label: text(".failed .applications"),
  }),
];

scenarios.large = [
  "pass=1",
  async () => {
    const made = document.querySelectorAll("#rows tr[data-row]").length;
    goTo(table.rows.length - 1);
    return {
      rows: table.rows.length,
      made,
      end: cursor(),
      groups: texts("#rewrites summary .count"),
      open: document.querySelectorAll("#rewrites details[open]").length,
    };
  },
];

async function run(names) {
  for (const name of names) {
    const [address, play] = scenarios[name];
    try {
      if (address) await visit(address);
      tell(name, await play());
    } catch (error) {
      tell(name, `${error.stack}`);
    }
  }
  told();
}

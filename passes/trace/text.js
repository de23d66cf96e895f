/* One line of IR: its tokens, and which of them differ from those of another line. */

const TOKEN = new RegExp(
  [
    '"(?:[^"\\\\]|\\\\.)*"?',
    "[%@]\\w+",
    "->",
    "0x[\\da-f]+",
    "-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?(?!\\w)",
    "[A-Za-z_]\\w*(?:\\.\\w+)*",
    "\\s+",
    ".",
  ].join("|"),
  "gsu",
);
const KEYWORDS = new Set(["func", "with", "return", "yield"]);
const LITERALS = new Set(["true", "false", "inf", "nan"]);
const LARGEST_TABLE = 40000;

/* The tokens of a line: [{kind, text}]; all of a type, with what is in its brackets, is "type". */
function tokens(text) {
  const found = [];
  let depth = 0; // of the angle brackets of types
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0],
      rest = match.index + token.length;
    const inType = depth > 0 || (token === "<" && found.at(-1)?.kind === "type");
    if (inType) depth += (token === "<") - (token === ">");
    found.push({ kind: inType ? "type" : kindOf(token, text, rest), text: token });
  }
  return found;
}

function kindOf(token, text, rest) {
  if (token[0] === '"') return "string";
  if (token[0] === "%") return "value";
  if (token[0] === "@") return "symbol";
  if (/^-?\d/.test(token) || LITERALS.has(token)) return "number";
  if (KEYWORDS.has(token)) return "keyword";
  if (!/^[A-Za-z_]/.test(token)) return "";
  if (text[rest] === "<") return "type";
  if (token.includes(".")) return "op";
  return /^\s*[=:]/.test(text.slice(rest, rest + 3)) ? "attribute" : "";
}

/* For each token of both lines, whether it has no counterpart in the other line. */
function differing(before, after) {
  const old = before.map((token) => token.text),
    now = after.map((token) => token.text);
  let start = 0,
    end = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  const room = Math.min(old.length, now.length) - start;
  while (end < room && old.at(-1 - end) === now.at(-1 - end)) end++;
  const kept = common(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const marks = (all, side) =>
    all.map((_, at) => at >= start && at < all.length - end && !kept[side].has(at - start));
  return [joined(before, marks(before, 0)), joined(after, marks(after, 1))];
}

/* The places, in both, of a longest common subsequence; none if it would take too long. */
function common(old, now) {
  const kept = [new Set(), new Set()];
  if (old.length * now.length > LARGEST_TABLE) return kept;
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i][j] =
        old[i] === now[j]
          ? lengths[i + 1][j + 1] + 1
          : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  for (let i = 0, j = 0; i < old.length && j < now.length;) {
    if (old[i] === now[j]) (kept[0].add(i++), kept[1].add(j++));
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return kept;
}

/* Spaces and commas between two marked tokens are marked too: one long mark is easier to read. */
function joined(line, marks) {
  return marks.map(
    (mark, at) =>
      mark || (/^[\s,.]+$/.test(line[at].text) && marks[at - 1] && marks[at + 1]) || false,
  );
}

/* The values that a line defines, results and arguments of regions. */
function definedIn(text) {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
  const results = bare.match(/^\s*(%[\w%, ]+) = /)?.[1].split(", ") ?? [];
  const argument = /[(, ](%\w+): /g;
  return [...results, ...Array.from(bare.matchAll(argument), (match) => match[1])];
}

/* Spans for a line; `marks` says which tokens differ. */
function colouredLine(text, line = tokens(text), marks = []) {
  const defined = new Set(definedIn(text));
  return line.map((token, at) => {
    if (!token.kind && !marks[at]) return document.createTextNode(token.text);
    const span = document.createElement("span");
    span.className = token.kind;
    span.textContent = token.text;
    if (marks[at]) span.classList.add("mark");
    if (token.kind === "value") {
      span.dataset.value = token.text;
      // A value that is defined in a line stands there once: it cannot read itself.
      if (defined.has(token.text)) span.classList.add("definition");
    }
    return span;
  });
}

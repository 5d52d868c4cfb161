// Small charts as SVG. Text is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shape(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// A number with three digits that matter.
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-3)) return value.toExponential(1);
  if (size >= 1e6) return (value / 1e6).toFixed(2) + " M";
  if (size >= 1e4) return (value / 1e3).toFixed(1) + " k";
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toPrecision(3);
}

export function empty(place, text) {
  place.replaceChildren(element("p", { class: "empty" }, text));
}

// Lines over x. `lines` are {class, name, values: [[x, y], ...]}, `band` is [[x, low, high], ...].
export function curves(place, lines, { band = [], labels = (x) => short(x), zero = false } = {}) {
  const points = lines.flatMap((line) => line.values).filter((p) => Number.isFinite(p[1]));
  if (points.length < 2) return empty(place, "Nothing to draw yet.");
  const width = Math.max(place.clientWidth, 200), height = Math.max(place.clientHeight - 24, 80);
  const left = 46, bottom = 18, top = 6;
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const x0 = Math.min(...xs), x1 = Math.max(...xs);
  let low = Math.min(...ys), high = Math.max(...ys);
  const reach = (high - low) * 0.75;  // a wide band must not flatten the lines
  for (const [, a, b] of band) {
    low = Math.min(low, Math.max(a, Math.min(...ys) - reach));
    high = Math.max(high, Math.min(b, Math.max(...ys) + reach));
  }
  if (zero) low = Math.min(low, 0);
  if (high === low) { high += 1; low -= 1; }
  const X = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - 8);
  const Y = (y) => top + (1 - (Math.min(Math.max(y, low), high) - low) / (high - low))
    * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const share of [0, 0.5, 1]) {
    const y = low + share * (high - low);
    svg.append(shape("line", { class: "grid", x1: left, x2: width - 8, y1: Y(y), y2: Y(y) }));
    svg.append(shape("text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, short(y)));
  }
  svg.append(shape("text", { x: left, y: height - 2 }, labels(x0)));
  svg.append(shape("text", { x: width - 8, y: height - 2, "text-anchor": "end" }, labels(x1)));
  if (band.length > 1) {
    const upper = band.map(([x, , b]) => `${X(x)},${Y(b)}`);
    const lower = band.map(([x, a]) => `${X(x)},${Y(a)}`).reverse();
    svg.append(shape("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
  }
  for (const line of lines) {
    const path = line.values.filter((p) => Number.isFinite(p[1]));
    const points = path.map(([x, y]) => `${X(x)},${Y(y)}`).join(" ");
    svg.append(shape("polyline", { class: `curve ${line.class}`, points }));
  }
  place.replaceChildren(svg, legend(lines));
}

// A small line without axes, or nothing if there are too few values.
export function spark(values) {
  const found = values.filter((v) => Number.isFinite(v)).slice(-120);
  const svg = shape("svg", { class: "spark", viewBox: "0 0 120 24", preserveAspectRatio: "none",
    "aria-hidden": "true" });
  if (found.length < 2) return svg;
  const low = Math.min(...found), reach = Math.max(...found) - low;
  const points = found.map((v, i) =>
    `${(120 * i) / (found.length - 1)},${22 - (reach ? (20 * (v - low)) / reach : 10)}`);
  svg.append(shape("polyline", { class: "curve model", points: points.join(" ") }));
  return svg;
}

// One mark for each row of a classifier: whether the class was right.
export function marks(place, rows) {
  if (rows.length < 2) return empty(place, "Nothing to draw yet.");
  const width = Math.max(place.clientWidth, 200), height = Math.max(place.clientHeight - 24, 80);
  const classes = [...new Set(rows.flatMap((row) => [row.target, row.prediction]).map(String))];
  const left = 90, step = (width - left - 8) / rows.length;
  const Y = (label) => 14 + (classes.indexOf(String(label)) / Math.max(classes.length - 1, 1))
    * (height - 32);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  if (classes.length <= 12) {
    for (const label of classes) {
      const text = label.length > 12 ? label.slice(0, 11) + "…" : label;
      svg.append(shape("text", { x: left - 8, y: Y(label) + 4, "text-anchor": "end" }, text));
    }
  }
  rows.forEach((row, i) => {
    const right = row.target === row.prediction;
    const place = { cx: left + (i + 0.5) * step, cy: Y(row.target), r: right ? 2 : 3.2 };
    svg.append(shape("circle", { class: right ? "hit" : "miss", ...place }));
  });
  place.replaceChildren(svg);
}

export function bars(place, values, what) {
  const found = Object.entries(values || {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  if (!found.length) return empty(place, what);
  const largest = Math.max(...found.map((each) => Math.abs(each[1])), 1e-12);
  const grid = element("div", { class: "bars" });
  for (const [name, value] of found.slice(0, 12)) {
    const bar = element("i", { class: value < 0 ? "less" : "" });
    bar.style.width = `${(100 * Math.abs(value)) / largest}%`;
    const label = element("span", { title: name }, name);
    grid.append(label, element("div", {}, bar), element("em", {}, value.toFixed(2)));
  }
  place.replaceChildren(grid);
}

export function table(place, head, rows, what) {
  if (!rows.length) return empty(place, what);
  const row = (cells, kind) => element("tr", {}, ...cells.map((c) => element(kind, {}, c)));
  place.replaceChildren(element("table", {}, row(head, "th"), ...rows.map((r) => row(r, "td"))));
}

function legend(lines) {
  const items = lines.map((line) =>
    element("span", {}, element("i", { class: line.class.split(" ").pop() }), line.name));
  return element("div", { class: "legend" }, ...items);
}

// The page of a server: it asks once per second, and draws.

import { bars, curves, element, empty, marks, short, spark, table } from "/charts.js";

const $ = (id) => document.getElementById(id);
let model = null, points = [], token = sessionStorage.getItem("token"), asking = false;
let before = {};  // when the number of rows last changed

class Failed extends Error {}

async function ask(path, method = "GET") {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, { method, headers });
  } catch {
    throw new Failed("The server does not answer.");
  }
  if (answer.status === 401) {
    await askForToken();
    return ask(path, method);
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Failed(found.error || `The server answered ${answer.status}.`);
  return found;
}

async function askForToken() {
  if (asking) return new Promise((resolve) => setTimeout(resolve, 300));
  asking = true;
  const dialog = $("ask");
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  token = $("token").value;
  $("token").value = "";
  sessionStorage.setItem("token", token);
  asking = false;
}

const path = (rest = "") => `/models/${encodeURIComponent(model)}${rest}`;

function choose(select, names, chosen) {
  const shown = [...select.options].map((option) => option.value);
  if (shown.join("\n") === names.join("\n")) return;
  select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
}

function status(state) {
  const pill = $("status");
  const [text, kind] = state.failure ? [state.failure, "bad"]
    : state.paused ? ["paused", "wait"]
    : state.backlog_rows > 1000 ? [`${short(state.backlog_rows)} rows behind`, "wait"]
    : ["learning", "good"];
  pill.textContent = text;
  pill.className = `pill ${kind}`;
}

// Over the last points of the history, which have the time of the server. 0 if nothing has come.
function perSecond(state) {
  if (before.model !== model || before.rows !== state.rows) {
    before = { model, rows: state.rows, at: performance.now() };
  }
  if (performance.now() - before.at > 5000) return 0;
  const last = points[points.length - 1], first = points[Math.max(0, points.length - 10)];
  return last && last.at > first.at ? (last.rows - first.rows) / (last.at - first.at) : null;
}

// What changed since the last snapshot: of predictions, and of the function if there is one.
function driftTile(state) {
  const drift = state.drift;
  if (!drift) return ["drift: take a snapshot to compare with", "–"];
  const unit = state.task === "classification" ? "other classes" : "in deviations of the target";
  const rkhs = drift.rkhs === undefined ? "" : `; RKHS distance ${short(drift.rkhs)}`;
  return [`drift since ${drift.snapshot}, ${unit}${rkhs}`, short(drift.predictions)];
}

function tiles(state, requests) {
  const rolling = state.rolling || {}, classes = state.task === "classification";
  const predict = requests.predict || requests.predict_learn;
  const metric = classes ? "accuracy" : "r2", loss = classes ? "log_loss" : "mae";
  const over = (get) => points.map((p) => { const v = get(p); return v === null ? NaN : v; });
  const rate = points.slice(1).map((p, i) => (p.rows - points[i].rows) / (p.at - points[i].at));
  // Each is a name, a value, and values over time if they are known.
  const shown = [
    ["rows learned", short(state.rows), over((p) => p.rows)],
    ["rows per second", short(perSecond(state)), rate],
    [classes ? "accuracy, last 1000" : "R², last 1000", short(rolling[metric]),
      over((p) => p.rolling && p.rolling[metric])],
    [classes ? "log loss" : "mean absolute error", short(rolling[loss]),
      over((p) => p.rolling && p.rolling[loss])],
    [...driftTile(state), over((p) => p.drift && p.drift.predictions)],
    [`waiting for labels, at most ${short(state.pending_most)}`, short(state.pending)],
    ["centres", short(state.centers), over((p) => p.centers)],
    ["megabytes", state.bytes ? short(state.bytes / 1e6) : "–", over((p) => p.bytes)],
    ["ms to predict, 99 % within", predict ? short(predict.p99 * 1000) : "–"],
  ];
  if (state.coverage) {
    const want = `coverage, ${Math.round(100 * state.intervals)} % asked for`;
    const got = state.coverage.coverage;
    shown.splice(4, 0, [want, got === null ? "–" : `${(100 * got).toFixed(1)} %`,
      over((p) => p.coverage && p.coverage.coverage)]);
  }
  $("tiles").replaceChildren(...shown.map(([name, value, values]) => element(
    "div", { class: "tile" }, element("b", {}, value), spark(values || []),
    element("span", {}, name))));
}

function draw(state, history) {
  const classes = state.task === "classification";
  $("error-unit").textContent = classes ? "share of wrong classes, last 300 rows"
    : `root mean squared error, last 300 rows`;
  const line = (name, kind) => ({
    class: kind, name, values: points.filter((p) => p.errors && p.errors[kind] !== undefined)
      .map((p) => [p.at, p.errors[kind]]),
  });
  const clock = (at) => new Date(at * 1000).toLocaleTimeString();
  const middle = classes ? "most frequent class" : "mean";
  curves($("errors"), [line(middle, "mean"), line("last value", "last"), line("model", "model")],
    { labels: clock, zero: true });
  const rows = history.rows.slice($("rows").clientWidth < 600 ? -80 : -200);
  if (classes) marks($("rows"), rows);
  else {
    const first = state.rows - rows.length + 1;
    const values = (name) => rows.map((row, i) => [first + i, row[name]]);
    const band = rows.map((row, i) => [first + i, ...(row.interval || [null, null])])
      .filter((each) => each[1] !== null && each[2] !== null);
    const lines = [
      { class: "came", name: "came", values: values("target") },
      { class: "model", name: band.length ? "predicted, with interval" : "predicted",
        values: values("prediction") },
    ];
    curves($("rows"), lines, { band, labels: (x) => `row ${Math.round(x)}` });
  }
  bars($("shares"), state.shares, "This model has one expert.");
  bars($("relevance"), state.relevance, "Not known yet.");
  const own = classes ? "accuracy" : "r2";
  const compared = Object.entries({ [state.name]: state, ...state.shadows });
  table($("shadows"), ["", "rows", classes ? "accuracy" : "R²", "centres"],
    compared.length < 2 ? [] : compared.map(([name, each]) =>
      [name, short(each.rows), short(each.rolling && each.rolling[own]), short(each.centers)]),
    "No shadow learns beside this model.");
  const refusals = history.errors.slice(0, 8).map((each) =>
    element("li", {}, `${clock(each.at)}${each.place ? `, entry ${each.place}` : ""}: ${each.message}`));
  if (refusals.length) $("refusals").replaceChildren(...refusals);
  else empty($("refusals"), "None.");
}

function requestTable(requests) {
  const rows = Object.entries(requests).sort((a, b) => b[1].count - a[1].count).slice(0, 8)
    .map(([name, r]) => [name, short(r.count), short(r.p50 * 1000), short(r.p99 * 1000)]);
  table($("requests"), ["", "number", "half within ms", "99 % within ms"], rows, "None yet.");
}

async function look() {
  try {
    const { models, requests } = await ask("/models");
    choose($("models"), models.map((each) => each.name), model);
    if (!models.some((each) => each.name === model)) {
      model = models.length ? models[0].name : null;
      points = [];
    }
    if (model === null) throw new Failed("There is no model yet. Start with --target, or add one.");
    const since = points.length ? points[points.length - 1].at : 0;
    const [state, history] = await Promise.all([ask(path()), ask(path(`/history?since=${since}`))]);
    points = [...points, ...history.points].slice(-900);
    status(state);
    tiles(state, requests);
    draw(state, history);
    requestTable(requests);
    choose($("snapshots"), state.snapshots.map((each) => each.name), $("snapshots").value);
    $("back").disabled = !state.snapshots.length;
    $("pause").textContent = state.paused ? "Resume" : "Pause";
    $("pause").dataset.next = state.paused ? "resume" : "pause";
    $("message").hidden = true;
  } catch (error) {
    if (!(error instanceof Failed)) console.error(error);
    $("message").textContent = error.message;
    $("message").hidden = false;
    $("status").textContent = "not connected";
    $("status").className = "pill bad";
  }
  setTimeout(look, 1000);
}

async function act(button, rest, method) {
  button.disabled = true;
  try {
    await ask(path(rest), method);
  } catch (error) {
    $("message").textContent = error.message;
    $("message").hidden = false;
  }
  button.disabled = false;
}

$("models").addEventListener("change", () => { model = $("models").value; points = []; });
$("pause").addEventListener("click", (event) =>
  act(event.target, `/${event.target.dataset.next || "pause"}`, "POST"));
$("snapshot").addEventListener("click", (event) => {
  const name = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
  act(event.target, `/snapshots/${name}`, "PUT");
});
$("back").addEventListener("click", (event) => {
  const name = $("snapshots").value;
  if (!name || !confirm(`Go back to ${name}? What was learned since then is left out.`)) return;
  act(event.target, `/snapshots/${encodeURIComponent(name)}/back`, "POST");
});
look();

// Asks for the state again and again and shows it. What comes from the web only ever becomes text.
"use strict";
const EVERY_MS = 2000, SVG = "http://www.w3.org/2000/svg";
const at = id => document.getElementById(id);
const number = n => Number(n).toLocaleString("en", { maximumFractionDigits: 1 });
const clock = s => new Date(s * 1000).toISOString().slice(11, 19);
// Characters that have no look of their own, or turn the line around.
const plain = text => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

function element(name, text, classes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = plain(text);
  if (classes) made.className = classes;
  return made;
}

function table(id, names, rows) {
  if (!rows.length) return at(id).replaceChildren(element("p", "nothing yet", "note"));
  const made = element("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  names.forEach((name, n) => head.append(element("th", name, typeof rows[0][n] === "number" ? "n" : "")));
  for (const row of rows) {
    const line = body.insertRow();
    for (const cell of row) {
      const isNumber = typeof cell === "number";
      line.append(element("td", cell === undefined ? "" : isNumber ? number(cell) : cell, isNumber ? "n" : ""));
    }
  }
  at(id).replaceChildren(made);
}

function tiles(facts) {
  at("tiles").replaceChildren(...facts.map(([name, value]) => {
    const tile = element("div", undefined, "tile");
    tile.append(element("b", number(value)), element("span", name));
    return tile;
  }));
}

function rate(all) {
  const points = all.length > 2 ? all.slice(0, -1) : all;  // the last span is not over yet
  const most = Math.max(1, ...points.map(point => point.outcomes));
  const x = n => points.length < 2 ? 320 : 8 + 624 * n / (points.length - 1), y = value => 150 - 140 * value / most;
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", points.map((point, n) => `${x(n).toFixed(1)},${y(point.outcomes).toFixed(1)}`).join(" "));
  at("rate").replaceChildren(line);
  const whole = points.slice(-6), sum = whole.reduce((total, point) => total + point.outcomes, 0);
  at("rate-note").textContent = points.length
    ? `${clock(points[0].at)} to ${clock(points[points.length - 1].at)} UTC, at most ${number(most / 10)} a second` : "";
  return whole.length ? sum / (10 * whole.length) : 0;
}

function step(state, perSecond) {
  const segment = state.segment;
  if (!segment) return;
  const working = state.at_work === undefined ? "nobody works on the crawl" : `process ${state.at_work} is at work`;
  at("step").textContent = `Segment ${segment.id}: ${segment.step || "done"}`;
  at("progress").hidden = !segment.total;
  if (segment.total) at("progress").max = segment.total;
  at("progress").value = segment.done || 0;
  const told = [working];
  if (segment.total) told.push(`${number(segment.done || 0)} of ${number(segment.total)}`);
  if (segment.step === "fetch" && perSecond && state.at_work !== undefined) {
    told.push(`${number(perSecond)}/s`, `about ${number((segment.total - (segment.done || 0)) / perSecond / 60)} min left`);
  }
  const others = Object.entries(state.unfinished || {}).filter(([id]) => id !== segment.id);
  if (others.length) told.push("also: " + others.map(([id, next]) => `${id} ${next}`).join(", "));
  at("how-far").textContent = told.join(" · ");
}

function status(state) {
  const found = state.status, segment = state.segment || {};
  at("limit").textContent = found && state.at_work === undefined ? plain(`What limits it now: ${found.limit}`) : "";
  const facts = [["MB in this segment", (segment.body_bytes || 0) / 1e6], ["hosts left in it", segment.hosts_left || 0]];
  if (found) {
    facts.unshift(["URLs known", found.known], ["pages", found.statuses.fetched || 0], ["due now", found.ready],
      ["hosts", found.hosts], ["hosts put off", found.put_off_hosts]);
  }
  tiles(facts);
  table("rounds", ["segment", "URLs", "pages", "new", "MB", "pages/s", "ended"], (found ? found.rounds : []).slice().reverse()
    .map(told => [told.segment, told.urls, told.pages || 0, told.new || 0, (told.body_bytes || 0) / 1e6,
      told.pages_per_s || 0, told.why || ""]));
}

function show(state) {
  const segment = state.segment || {};
  document.title = `${plain(state.job)} · batchcrawl`;
  at("name").textContent = plain(`Crawl ${state.job}`);
  const counted = state.status_at === undefined ? "the crawldb is being counted" : `crawldb of ${clock(state.status_at)}`;
  at("when").textContent = `${clock(state.at)} UTC; ${counted}`;
  at("when").className = "note";
  if (state.problem !== undefined) fail(state.problem);
  step(state, rate(segment.rate || []));
  status(state);
  const failures = segment.errors || {}, outcomes = Object.entries(segment.outcomes || {});
  table("outcomes", ["outcome", "URLs", ""], outcomes.map(([name, n]) => [name, n, name in failures ? "error" : ""]));
  table("hosts", ["host", "URLs left"], (segment.hosts_waiting || []).map(told => [told.host, told.left]));
  for (const [id, lines] of [["last", segment.last], ["errors", segment.last_errors]]) {
    table(id, ["at", "outcome", "status", "URL", "why"], (lines || []).map(told =>
      [clock(told.at), told.outcome, told.status === undefined ? "" : String(told.status), told.url, told.detail || ""]));
  }
  document.body.dataset.shown = String(state.at);
}

function fail(text) {
  at("when").textContent = plain(text);
  at("when").className = "bad";
}

async function ask() {
  try {
    const answer = await fetch("/state", { cache: "no-store" });
    if (!answer.ok) throw new Error(`the dashboard answers ${answer.status}`);
    show(await answer.json());
  } catch (error) {
    fail(`${error.message}; what is shown is old`);
  }
  setTimeout(ask, EVERY_MS);
}
ask();

"use strict";
// Everything from the data is written with textContent: no markup in a claim is ever read as such.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const COLOURS = ["#3f7fbf", "#d1603d", "#7a5ea8", "#2f9c95", "#b79a2e", "#c25b8f", "#7f8f3a", "#5a6ea0"];
const GREY = "#8b95a1";
const colour = (group) => (group < 0 ? GREY : COLOURS[group % COLOURS.length]);
let trace = 0;
let hop = 0; // 0 is the base claim

function element(name, text, settings) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  Object.assign(made, settings || {});
  return made;
}

function shape(name, settings) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(settings)) made.setAttribute(key, value);
  return made;
}

// The longest common run of words, by the usual table; claims are short, so the table is small.
function difference(before, after) {
  const a = before.split(/\s+/).filter(Boolean), b = after.split(/\s+/).filter(Boolean);
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const parts = [];
  const add = (kind, word) => {
    const last = parts[parts.length - 1];
    if (last && last.kind === kind) last.words.push(word); else parts.push({ kind, words: [word] });
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("same", a[i]); i++; j++; }
    else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) { add("del", a[i]); i++; }
    else { add("ins", b[j]); j++; }
  }
  return parts;
}

const current = () => data.traces[trace];
const world = () => data.worlds[current().world];
// On a walk a hop comes from the one before; in a cascade it says where it comes from.
const parentOf = (n) => current().hops[n - 1].from ?? n - 1;
const textAt = (n) => (n === 0 ? current().base : current().hops[n - 1].text);

function showDifference() {
  const box = byId("diff"), now = textAt(hop);
  box.replaceChildren();
  if (hop === 0 || now === undefined || now === null) {
    box.textContent = now === undefined || now === null ? "(no text)" : now;
    byId("compared").textContent = "";
    return;
  }
  const fromBase = byId("against").checked;
  const before = (fromBase ? current().base : textAt(parentOf(hop))) || "";
  for (const part of difference(before, now)) {
    const words = part.words.join(" ");
    box.append(part.kind === "same" ? document.createTextNode(words) : element(part.kind, words), " ");
  }
  const same = before === now ? " The text did not change." : "";
  byId("compared").textContent = (fromBase ? "against the base claim." : "against what this agent heard.") + same;
}

function fact(name, value, kind) {
  if (value === undefined || value === null || value === "") return;
  byId("facts").append(element("dt", name), element("dd", value, kind ? { className: kind } : {}));
}

function showFacts() {
  byId("facts").replaceChildren();
  byId("votes").replaceChildren();
  const one = hop === 0 ? null : current().hops[hop - 1];
  byId("votes-title").hidden = !one || !(one.votes && one.votes.length);
  if (!one) return;
  fact("Agent", one.agent + (one.at !== undefined && world().agents[one.at][3] >= 0 ? ` · ${data.groups[world().agents[one.at][3]]}` : ""));
  fact("Role", one.role);
  fact("Round, step", one.round === undefined ? undefined : `${one.round}, ${one.step}`);
  fact("Heard at hop", one.from); // cascades only: on a walk it is the hop before
  fact("Moved by", (one.moved_by || []).join(", "));
  fact("Operators", (one.operators || []).join(", "));
  fact("Because", one.why);
  fact("Verdict", one.verdict);
  fact("drift-lite", one.drift);
  fact("Failed", one.failure, "word-fail");
  if (one.passed !== undefined) fact("Audit", one.passed ? "passed" : "not passed", one.passed ? "word-pass" : "word-fail");
  fact("Audit's reason", one.reason);
  (one.votes || []).forEach((vote, i) => {
    const word = vote.passed === null ? "no answer" : vote.passed ? "pass" : "revise";
    const item = element("li", null, { className: vote.passed === null ? "" : vote.passed ? "pass" : "fail" });
    item.append(element("strong", `${vote.auditor || `Auditor ${i + 1}`}: ${word}`));
    if (vote.reason) item.append(` ${vote.reason}`);
    byId("votes").append(item);
  });
}

const spot = (agent) => [100 * world().agents[agent][1], 100 * world().agents[agent][2]];

function showMap() {
  const map = byId("map");
  map.replaceChildren();
  const way = current().hops.slice(0, hop).map((h) => h.at);
  const now = way[way.length - 1];
  const all = new Set(current().hops.map((h) => h.at));
  map.setAttribute("aria-label", `${way.length} hops so far; now at ${hop ? current().hops[hop - 1].agent : "the base claim"}`);
  for (const [a, b] of world().ties) {
    const [x1, y1] = spot(a), [x2, y2] = spot(b);
    map.append(shape("line", { x1, y1, x2, y2, class: "tie" }));
  }
  for (let i = 1; i < way.length; i++) {
    const before = way[parentOf(i + 1) - 1];
    if (before === undefined || way[i] === undefined || before === way[i]) continue;
    const [x1, y1] = spot(before), [x2, y2] = spot(way[i]);
    // A slight bow, so that a way back does not hide the way there.
    const mx = (x1 + x2) / 2 + (y2 - y1) * 0.12, my = (y1 + y2) / 2 - (x2 - x1) * 0.12;
    map.append(shape("path", { d: `M${x1},${y1} Q${mx},${my} ${x2},${y2}`, class: "way" }));
  }
  world().agents.forEach((agent, i) => {
    const on = all.has(i), here = now === i;
    const dot = shape("circle", {
      cx: 100 * agent[1], cy: 100 * agent[2], r: here ? 2.1 : on ? 1.5 : 0.9, fill: colour(agent[3]),
      class: `agent ${on ? "visited" : "off"} ${here ? "now" : ""}`,
    });
    dot.append(shape("title", {}));
    dot.lastChild.textContent = agent[0];
    if (on) dot.addEventListener("click", () => { hop = current().hops.findIndex((h) => h.at === i) + 1; show(); });
    map.append(dot);
  });
  if (now !== undefined) {
    const [x, y] = spot(now);
    const left = x > 70;
    const label = shape("text", { x: left ? x - 2.8 : x + 2.8, y: y + 0.9, "text-anchor": left ? "end" : "start" });
    label.textContent = world().agents[now][0];
    map.append(label);
  }
}

function showSpark() {
  const box = byId("spark"), values = [0, ...current().hops.map((h) => h.drift)];
  box.replaceChildren();
  const known = values.map((v, i) => [i, v]).filter(([, v]) => v !== undefined && v !== null);
  const top = Math.max(0.05, ...known.map(([, v]) => v)), last = Math.max(1, values.length - 1);
  const at = ([i, v]) => [8 + (284 * i) / last, 54 - (46 * v) / top];
  box.append(shape("path", { d: known.map((p, i) => `${i ? "L" : "M"}${at(p).map((c) => c.toFixed(1)).join(",")}`).join("") }));
  const here = known.find(([i]) => i === hop);
  if (here) { const [cx, cy] = at(here); box.append(shape("circle", { cx, cy, r: 4 })); }
  for (const [x, anchor, words] of [[8, "start", "base"], [292, "end", `hop ${last}; highest ${top.toFixed(2)}`]]) {
    const label = shape("text", { x, y: 67, "text-anchor": anchor });
    label.textContent = words;
    box.append(label);
  }
  box.setAttribute("aria-label", `drift-lite from 0 to ${top.toFixed(2)} at most over ${last} hops`);
}

function showHops() {
  const list = byId("hops");
  list.replaceChildren();
  list.start = 0;
  for (let n = 0; n <= current().hops.length; n++) {
    const item = element("li");
    const one = n ? current().hops[n - 1] : null;
    item.append(element("span", one ? `${one.agent || "?"}, ${one.role || "?"} ` : "base claim ", { className: "soft" }));
    item.append(textAt(n) || "(no text)");
    if (n === hop) item.setAttribute("aria-current", "step");
    item.addEventListener("click", () => { hop = n; show(); });
    list.append(item);
  }
  const now = list.children[hop];
  list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2; // moves the list, never the page
}

function show() {
  const one = current(), last = one.hops.length;
  hop = Math.min(Math.max(hop, 0), last);
  byId("trace").selectedIndex = trace;
  byId("title").textContent = hop === 0 ? "Base claim" : `Hop ${hop} of ${last}`;
  byId("goal").textContent = [one.id, one.topic, one.run, one.goal && `target ${one.goal}`].filter(Boolean).join(" · ");
  byId("where").textContent = `hop ${hop} of ${last}`;
  byId("back").disabled = hop === 0;
  byId("on").disabled = hop === last;
  showDifference(); showFacts(); showMap(); showSpark(); showHops();
}

function move(by) { hop += by; show(); }
function turn(by) { trace = Math.min(Math.max(trace + by, 0), data.traces.length - 1); hop = Math.min(1, current().hops.length); show(); }

byId("note").textContent = data.note;
data.traces.forEach((one) => byId("trace").append(element("option", `${one.id} (${one.hops.length} ${one.hops.length === 1 ? "hop" : "hops"}${one.goal ? `, ${one.goal}` : ""})`)));
data.groups.forEach((name, i) => {
  const item = element("li"), dot = element("i");
  dot.style.background = colour(i);
  item.append(dot, name);
  byId("legend").append(item);
});
byId("trace").addEventListener("change", (event) => { trace = event.target.selectedIndex; hop = 1; show(); });
byId("back").addEventListener("click", () => move(-1));
byId("on").addEventListener("click", () => move(1));
byId("against").addEventListener("change", show);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    ArrowLeft: () => move(-1), ArrowRight: () => move(1), ArrowUp: () => turn(-1), ArrowDown: () => turn(1),
    Home: () => move(-hop), End: () => move(current().hops.length - hop),
  };
  if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
});
byId("page").hidden = false; // not before: what is painted empty jumps when it is filled
if (data.traces.length) { hop = 1; show(); }

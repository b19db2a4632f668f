"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const place = "claimlab:" + data.review + ":" + data.annotator;
  const $ = (id) => document.getElementById(id);
  const items = data.items;
  // What this page knows: decisions by item, what was skipped (in order), and what undo takes back.
  let state = { decisions: {}, skipped: [], steps: [] };
  try { state = Object.assign(state, JSON.parse(localStorage.getItem(place)) || {}); } catch { /* a browser without storage */ }
  let at = 0, since = Date.now(), spans = [];

  const uuid = () => {
    const b = crypto.getRandomValues(new Uint8Array(16));
    b[6] = (b[6] & 15) | 64; b[8] = (b[8] & 63) | 128;
    const h = [...b].map((x) => x.toString(16).padStart(2, "0")).join("");
    return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join("-");
  };
  const keep = () => { try { localStorage.setItem(place, JSON.stringify(state)); } catch { say("This browser keeps nothing: save as a file."); } };
  const say = (text) => { $("problem").textContent = text; };
  const decided = (item) => state.decisions[item.id] || (item.status === "done" ? { value: item.value, comment: item.comment } : null);
  const open = () => items.filter((item) => !decided(item));

  function next() {
    const waiting = open().filter((item) => !state.skipped.includes(item.id));
    const later = state.skipped.map((id) => items.find((item) => item.id === id)).filter((item) => item && !decided(item));
    const item = waiting[0] || later[0];
    if (item) at = items.indexOf(item);
    show();
  }

  function decide(value) {
    const item = items[at], before = state.decisions[item.id] || null, skipped = state.skipped.slice();
    const comment = $("comment").value.trim() || null;
    state.decisions[item.id] = { key: uuid(), item: item.id, value, comment, seconds: (Date.now() - since) / 1000, at: new Date().toISOString() };
    state.skipped = state.skipped.filter((id) => id !== item.id);
    state.steps.push({ item: item.id, before, skipped });
    keep(); next();
  }
  function skip() {
    const item = items[at];
    if (decided(item)) return say("This item is decided. Undo the decision, or decide it again.");
    state.steps.push({ item: item.id, before: null, skipped: state.skipped.slice(), skip: true });
    state.skipped = state.skipped.filter((id) => id !== item.id).concat(item.id);
    keep(); next();
  }
  function undo() {
    const step = state.steps.pop();
    if (!step) return say("There is nothing to undo.");
    if (!step.skip) { if (step.before) state.decisions[step.item] = step.before; else delete state.decisions[step.item]; }
    state.skipped = step.skipped;
    keep(); at = items.findIndex((item) => item.id === step.item); show();
  }
  function save() {
    const content = { review: data.review, annotator: data.annotator, decisions: Object.values(state.decisions) };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" }));
    link.download = data.annotator.replace(/[^\w-]+/g, "_") + ".json";
    document.body.append(link); link.click(); link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function element(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }
  // Words of two texts that the other does not have in the same place: the longest common run of words stays plain.
  function differences(one, other) {
    const a = one.split(/(\s+)/), b = other.split(/(\s+)/);
    if (a.length * b.length > 4e6) return null;
    const best = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const marks = [new Set(), new Set()];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { i++; j++; }
      else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) marks[0].add(i++);
      else marks[1].add(j++);
    }
    return [[a, marks[0]], [b, marks[1]]];
  }
  function block(words, marked) {
    const made = element("div", undefined, "text");
    words.forEach((word, n) => made.append(marked.has(n) && word.trim() ? element("mark", word) : word));
    return made;
  }
  function spanned(text) {
    const made = element("div", undefined, "text"); made.id = "marked";
    let from = 0;
    for (const span of spans.slice().sort((x, y) => x.start - y.start)) {
      if (span.start < from) continue;
      made.append(text.slice(from, span.start), element("mark", text.slice(span.start, span.end)));
      from = span.end;
    }
    made.append(text.slice(from));
    return made;
  }
  function selection() {
    const chosen = getSelection();
    if (!chosen.rangeCount || chosen.isCollapsed) return null;
    const range = chosen.getRangeAt(0), box = $("marked");
    if (!box.contains(range.startContainer) || !box.contains(range.endContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(box); before.setEnd(range.startContainer, range.startOffset);
    // Offsets count characters as Python does, not UTF-16 units.
    const start = [...before.toString()].length;
    return { start, end: start + [...range.toString()].length };
  }
  function answer(value) {
    if (data.kind !== "span") return decide(value);
    const found = selection();
    if (!found) return say("Select a part of the text first.");
    spans.push({ ...found, label: value }); show(true);
  }

  function show(same) {
    const item = items[at], p = item ? item.payload : null, left = open().length;
    $("progress").textContent = item ? "item " + (at + 1) + " of " + items.length + ", " + left + " to do" + (left ? "" : ". All done: save as a file.") : "nothing to do";
    if (!item) return;
    const own = decided(item);
    if (!same) { since = Date.now(); spans = data.kind === "span" && own ? own.value.slice() : []; $("comment").value = own && own.comment || ""; say(""); }
    $("returned").hidden = !item.returned; $("returned").textContent = item.returned ? "Sent back: " + item.returned : "";
    const pair = p.other_text != null ? differences(p.text || "", p.other_text) : null;
    const plain = (text) => element("div", text, "text");
    const texts = data.kind === "span" ? [spanned(p.text || "")] : pair ? pair.map(([w, m]) => block(w, m)) : [plain(p.text || "")].concat(p.other_text != null ? [plain(p.other_text)] : []);
    $("texts").replaceChildren(...texts);
    [p.about, p.other_about].forEach((about, n) => {
      const words = about ? [about.source, about.date, about.url].filter(Boolean).join(" · ") : "";
      if (words) (data.kind === "span" ? $("texts") : texts[n]).append(element("p", words, "origin"));
    });
    const beside = [];
    if (p.label) beside.push(element("p", p.other_label ? `Labels: the first ${p.label}, the second ${p.other_label}` : `Label: ${p.label}`));
    if (p.reason) beside.push(element("p", "Why it is here: " + p.reason));
    if (p.model) beside.push(element("p", "A model says: " + [p.model.label, p.model.rationale].filter(Boolean).join(". ")));
    for (const e of [...(p.cluster || []), ...(p.context || [])]) beside.push(plain([e.title, e.text, e.url].filter(Boolean).join("\n")));
    $("beside").replaceChildren(...beside);
    $("answers").replaceChildren(...buttons(own));
  }
  function buttons(own) {
    const button = (label, key, value, act) => {
      const made = element("button", label + " "); made.type = "button";
      if (key) made.append(element("kbd", key));
      made.setAttribute("aria-pressed", String(!!own && data.kind !== "span" && own.value === value));
      made.addEventListener("click", act); return made;
    };
    if (data.kind === "note") {
      const box = element("textarea"); box.id = "note"; box.rows = 4; box.setAttribute("aria-label", "Note"); box.value = own ? own.value : "";
      return [box, button("Keep the note", "Ctrl+Enter", null, () => box.value.trim() ? decide(box.value) : say("The note is empty."))];
    }
    if (data.kind === "ordinal") {
      const all = Array.from({ length: data.scale[1] - data.scale[0] + 1 }, (_, n) => n + data.scale[0]);
      return all.map((n) => button(String(n), n === 10 ? "x" : "", n, () => decide(n)));
    }
    const made = data.choices.map((c) => button(c.label, c.key, c.value, () => answer(c.value)));
    if (data.kind === "span") made.push(button("Done", "Enter", null, () => decide(spans)), button("Clear", "", null, () => { spans = []; show(true); }));
    return made;
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.tagName === "TEXTAREA";
    if (event.key === "Escape" && typing) return event.target.blur();
    if (typing) { if (event.key === "Enter" && event.ctrlKey && event.target.id === "note") $("answers").querySelector("button").click(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || !items.length) return;
    const choice = data.choices.find((c) => c.key === event.key);
    const act = choice ? () => answer(choice.value)
      : data.kind === "ordinal" && /^[0-9]$/.test(event.key) ? () => decide(Number(event.key))
      : data.kind === "ordinal" && event.key === "x" ? () => decide(10)
      : data.kind === "span" && event.key === "Enter" && event.target.tagName !== "BUTTON" ? () => decide(spans)
      : { s: skip, u: undo, e: save, c: () => $("comment").focus(),
          ArrowLeft: () => { at = Math.max(0, at - 1); show(); }, ArrowRight: () => { at = Math.min(items.length - 1, at + 1); show(); } }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  $("back").addEventListener("click", () => { at = Math.max(0, at - 1); show(); });
  $("next").addEventListener("click", () => { at = Math.min(items.length - 1, at + 1); show(); });
  $("skip").addEventListener("click", skip);
  $("undo").addEventListener("click", undo);
  $("save").addEventListener("click", save);
  const legend = data.kind === "ordinal" ? ["0", "…", "9", "x (10)"] : data.choices.map((c) => c.key);
  $("keys").append(...legend.flatMap((key) => [element("kbd", key), " "]));
  next();
})();

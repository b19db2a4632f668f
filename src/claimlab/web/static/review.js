"use strict";
// Annotate and adjudicate by keyboard. An answer gets its key (a uuid) before it leaves: it waits in this browser until
// the server has it, through reloads and lost connections, and saved twice it is one decision.
const work = document.getElementById("work");
const review = work.dataset.review;
const adjudicating = work.dataset.mode === "adjudicate";
const api = `/api/reviews/${encodeURIComponent(review)}/`;
const shelf = `claimlab ${review} ${work.dataset.mode}`;
const place = (id) => document.getElementById(id);
let state = null; // what the server said last
let seen = null; // the item on the page
let began = Date.now();
let turn = Promise.resolve(); // requests go one after another: a key pressed while one is under way waits for its turn

const waiting = () => JSON.parse(localStorage.getItem(shelf) || "[]");
const keep = (list) => localStorage.setItem(shelf, JSON.stringify(list));

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text; // never markup: texts of datasets are untrusted
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function tell(text) { place("saving").textContent = text; }

function show(next) {
  place("item").removeAttribute("aria-busy");
  const before = seen && seen.item.id;
  state = next;
  seen = adjudicating ? next.waiting[0] || null : next.seen;
  const same = seen !== null && seen.item.id === before;
  if (!same) began = Date.now();
  if (next.agreement) place("agreement").textContent = next.agreement;
  place("progress").textContent = adjudicating ? `${next.waiting.length} to decide` : `${next.done} of ${next.total} done`;
  if (!adjudicating) Object.assign(place("bar"), { max: Math.max(1, next.total), value: next.done, hidden: false });
  const typing = same && document.activeElement === place("comment"); // the comment is being written: leave it
  if (!typing) place("comment").value = (seen && !adjudicating && seen.item.comment) || "";
  const returned = place("returned");
  returned.hidden = !(seen && (seen.item.returned || seen.item.round === "second"));
  if (seen) returned.textContent = seen.item.returned ? `Sent back: ${seen.item.returned}` : "The votes were revealed: vote again.";
  place("item").replaceChildren(...(seen ? itemParts(seen) : [element("p", adjudicating ? "Nothing is disputed." : "Nothing is left to do: thank you.", { class: "conclusion" })]));
  place("answers").replaceChildren(...(seen ? answerParts(seen) : []));
  place("comment").parentElement.hidden = !seen;
  place("actions").replaceChildren(...actionParts());
  legend();
}

function textBlock(text, caption, about) {
  const quote = element("blockquote", undefined, { class: "record" });
  if (caption) quote.append(element("footer", caption));
  quote.append(element("p", text ?? "(no text)", { dir: "auto" }));
  if (about) {
    const origin = element("p", [about.source, about.date].filter(Boolean).join(" · "), { class: "origin" });
    if (/^https?:\/\//.test(about.url ?? "")) origin.append(" ", element("a", about.url, { href: about.url, rel: "noopener noreferrer nofollow", target: "_blank" }));
    quote.append(origin);
  }
  return quote;
}

// Of a long passage that both texts share, its ends.
function shortened(text) {
  const letters = [...text];
  if (letters.length <= 500) return text;
  const [first, last] = [letters.slice(0, 200).join("").replace(/\S+$/u, ""), letters.slice(-200).join("").replace(/^\S+/u, "")];
  return `${first} […] ${last}`; // at the end of a word
}

function itemParts({ item, difference }) {
  const parts = [];
  const { payload } = item;
  if (item.votes.length) {
    const list = element("ul", undefined, { class: "votes", "aria-label": "Votes" });
    for (const vote of item.votes) list.append(element("li", `${vote.who}${vote.model ? " (a model)" : ""}, ${vote.round} vote: ${spoken(vote.value)}${vote.comment ? ` – ${vote.comment}` : ""}`));
    parts.push(list);
  }
  if (state.task.kind === "span") {
    const field = element("textarea", undefined, { readonly: "", rows: "8", id: "text", "aria-label": "The text: select a part of it", dir: "auto" });
    field.value = payload.text ?? "";
    parts.push(field, element("ul", undefined, { id: "spans", class: "chips", "aria-label": "Marked parts" }));
  } else if (payload.other_text === null) parts.push(textBlock(payload.text, "", payload.about));
  if (difference.length) {
    const line = element("p", undefined, { class: "difference", dir: "auto" });
    for (const piece of difference) {
      const name = { first: "del", second: "ins" }[piece.only] || "span";
      line.append(element(name, name === "span" ? shortened(piece.text) : piece.text));
    }
    const box = element("section");
    box.append(element("h2", "Difference", { class: "small" }), line, element("p", "Struck out: only in the first. Underlined: only in the second.", { class: "caption" }));
    parts.push(box);
  }
  if (payload.other_text !== null) {
    const both = element("div", undefined, { class: "pair" });
    both.append(textBlock(payload.text, `First${payload.label ? ` · labelled ${payload.label}` : ""}`, payload.about), textBlock(payload.other_text, `Second${payload.other_label ? ` · labelled ${payload.other_label}` : ""}`, payload.other_about));
    parts.push(both);
  }
  if (payload.label && payload.other_text === null) parts.push(element("p", `Label in the dataset: ${payload.label}`, { class: "note" }));
  if (payload.model) parts.push(element("p", `A model said: ${[payload.model.label, payload.model.rationale].filter(Boolean).join(" – ")}`, { class: "note", dir: "auto" }));
  if (payload.reason) parts.push(element("p", `Why it is here: ${payload.reason}`, { class: "note", dir: "auto" }));
  if (payload.cluster) parts.push(element("h2", `Also in this cluster (${payload.cluster.length})`, { class: "small" }));
  for (const passage of [...(payload.cluster ?? []), ...payload.context]) {
    const box = element("details");
    box.append(element("summary", passage.title || passage.url || "Evidence"), element("p", passage.text ?? "", { dir: "auto" }), element("p", passage.url ?? "", { class: "caption" }));
    parts.push(box);
  }
  return parts;
}

function spoken(value) {
  const choice = state.task.choices.find((one) => one.value === value);
  return choice ? choice.label : Array.isArray(value) ? value.map((span) => `${span.start}–${span.end} ${span.label ?? ""}`).join(", ") : String(value);
}

// Ratings 0 to 9 have the digits, and t is ten.
const answers = () => state.task.kind === "ordinal"
  ? Array.from({ length: state.scale[1] - state.scale[0] + 1 }, (_, i) => ({ value: i + state.scale[0], label: String(i + state.scale[0]), key: i + state.scale[0] > 9 ? "t" : String(i + state.scale[0]) }))
  : state.task.choices;

let spans = [];
function answerParts({ item }) {
  spans = Array.isArray(item.value) ? item.value : [];
  if (state.task.kind === "note") {
    const field = element("textarea", undefined, { id: "note", rows: "5", maxlength: "20000", "aria-label": "Your note" });
    field.value = typeof item.value === "string" ? item.value : "";
    const button = element("button", "Save (Ctrl+Enter)", { type: "button", class: "primary" });
    button.addEventListener("click", () => decide(field.value));
    return [field, button];
  }
  const parts = answers().map((answer) => {
    const button = element("button", undefined, { type: "button", class: "answer" });
    const label = { first: item.payload.label, second: item.payload.other_label }[answer.value];
    button.append(element("kbd", answer.key), ` ${answer.label}${label ? ` (${label})` : ""}`);
    if (item.value === answer.value) button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => choose(answer.value));
    return button;
  });
  if (state.task.kind === "span") {
    const button = element("button", "Save the marked parts (Ctrl+Enter)", { type: "button", class: "primary" });
    button.addEventListener("click", () => decide(spans));
    parts.push(button);
    queueMicrotask(showSpans);
  }
  return parts;
}

function choose(value) {
  if (state.task.kind !== "span") { decide(value); return; }
  const field = place("text");
  const count = (end) => [...field.value.slice(0, end)].length; // characters, not halves of them
  const [start, end] = [count(field.selectionStart), count(field.selectionEnd)];
  if (start === end) { tell("Select a part of the text first."); return; }
  spans = [...spans, { start, end, label: value }];
  showSpans();
}

function showSpans() {
  const list = place("spans");
  if (!list) return;
  const letters = [...place("text").value];
  list.replaceChildren(...spans.map((span) => {
    const line = element("li");
    const button = element("button", `${span.label}: ${letters.slice(span.start, span.end).join("")} ×`, { type: "button" });
    button.addEventListener("click", () => { spans = spans.filter((one) => one !== span); showSpans(); });
    line.append(button);
    return line;
  }));
}

function actionParts() {
  const parts = [];
  const add = (key, text, act) => {
    const button = element("button", undefined, { type: "button" });
    button.append(element("kbd", key), ` ${text}`);
    button.addEventListener("click", act);
    parts.push(button, " ");
  };
  if (adjudicating) {
    if (seen && state.task.adjudication === "discussion") add("r", "reveal the votes", reveal);
    if (seen && seen.item.votes.length) add("b", "send back", sendBack);
    add("u", "undo", undo);
  } else {
    if (seen) add("s", "skip", skip);
    if (state.earlier.length) add("u", "undo", undo);
    if (state.earlier.length) add("b", "back", back);
  }
  return parts;
}

function legend() {
  const keys = []; // those of answers and actions are on their buttons
  if (seen && ["note", "span"].includes(state.task.kind)) keys.push(["Ctrl+Enter", "save"]);
  keys.push(["c", "comment"], ["Esc", "leave the comment"], ["g", "guideline"], ["?", "all keys"]);
  place("keys").replaceChildren(...keys.map(([key, text]) => {
    const line = element("li");
    line.append(element("kbd", key), ` ${text}`);
    return line;
  }));
  const every = [...work.querySelectorAll("#answers kbd, #actions kbd, #keys kbd")];
  place("key-list").replaceChildren(...every.flatMap((kbd) => {
    const key = element("dt");
    key.append(kbd.cloneNode(true));
    return [key, element("dd", kbd.nextSibling.textContent.trim())];
  }));
}

function decide(value) {
  if (!seen) return;
  const item = seen.item.id;
  const others = waiting().filter((one) => one.item !== item); // pressed again before it was saved: the last answer counts
  const seconds = Math.min(86400, (Date.now() - began) / 1000);
  place("item").setAttribute("aria-busy", "true"); // until it is saved, keys are about this item
  keep([...others, { item, value, key: crypto.randomUUID(), comment: place("comment").value.trim() || null, seconds }]);
  flush();
}

const flush = () => inTurn(saveWaiting);

// Send what waits, oldest first. A refusal that says why is told and dropped; silence is tried again.
async function saveWaiting() {
  let last = null;
  while (waiting().length) {
    const first = waiting()[0];
    tell("Saving …");
    try {
      last = await send(api + (adjudicating ? "adjudicate" : "decide"), first);
    } catch (error) {
      if (!error.status || error.status >= 500) {
        tell(`Not connected. Answers that wait in this browser until the server answers again: ${waiting().length}.`);
        setTimeout(flush, 1500);
        return;
      }
      if (error.status === 403 && /page of this workspace/.test(error.message)) { location.reload(); return; }
      drop(first);
      tell(`Not saved: ${error.message}`);
      last = null;
      await load();
      return;
    }
    drop(first);
  }
  if (last) { show(last); tell("Saved."); }
}
const drop = (answer) => keep(waiting().filter((one) => one.key !== answer.key));

function inTurn(call) { turn = turn.then(call).catch((error) => tell(error.message || "The server did not answer. Try again.")); }
const act = (call) => inTurn(async () => { show(await call()); tell(""); });
function skip() {
  if (!seen) return;
  const item = seen.item.id; // the one on the page when the key was pressed
  act(() => send(api + "skip", { item }));
}
const undo = () => act(() => send(api + "undo", {}));
const fetched = async (path) => {
  const answer = await fetch(api + path);
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error([content.problem, content.todo].filter(Boolean).join(" "));
  return content;
};
const back = () => inTurn(async () => {
  const list = state.earlier;
  const at = seen ? list.indexOf(seen.item.id) : -1;
  const target = list[Math.min(at + 1, list.length - 1)];
  if (target) { show(await fetched(`annotate?item=${encodeURIComponent(target)}`)); tell(""); }
});
function reveal() {
  if (!seen) return;
  const item = seen.item.id;
  act(async () => { await send(api + "reveal", { item }); return fetched("adjudicate"); });
}
function sendBack() {
  if (!seen) return;
  const item = seen.item.id;
  const names = [...new Set(seen.item.votes.filter((vote) => !vote.model).map((vote) => vote.who))];
  const why = place("comment").value.trim();
  if (!why) { tell("Say why in the comment, then send it back."); place("comment").focus(); return; }
  act(async () => { for (const person of names) await send(api + "send-back", { item, person, why }); return fetched("adjudicate"); });
}
async function load() {
  try { show(await fetched(work.dataset.mode)); } catch (error) {
    tell(error.message || "Not connected.");
    setTimeout(() => { if (!state) load(); }, 1500);
  }
}

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("textarea:not([readonly]), input, select");
  if (event.key === "Escape" && field) { field.blur(); return; }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && seen) {
    if (state.task.kind === "note") decide(place("note").value);
    if (state.task.kind === "span") decide(spans);
    return;
  }
  if (field || event.ctrlKey || event.metaKey || event.altKey || !state || document.querySelector("dialog[open]")) return;
  const answer = seen && state.task.kind !== "note" && answers().find((one) => one.key === event.key);
  const others = adjudicating ? { r: reveal, k: sendBack, u: undo } : { s: skip, u: undo, b: back };
  if (answer) choose(answer.value);
  else if (event.key in others) others[event.key]();
  else if (event.key === "c") place("comment").focus();
  else if (event.key === "g" && place("guideline")) place("guideline").open = !place("guideline").open;
  else return;
  event.preventDefault();
});
window.addEventListener("online", flush);
// The page brings the first item itself.
show(JSON.parse(place("first").textContent));
flush();
// Who has begun has read the guideline: it is closed on the pages after that, unless it was opened there.
if (place("guideline")) {
  const remembered = `claimlab guideline ${review}`;
  const left = localStorage.getItem(remembered);
  if (left) place("guideline").open = left === "open";
  const first = place("guideline").open;
  place("guideline").addEventListener("toggle", () => {
    if (left || place("guideline").open !== first) localStorage.setItem(remembered, place("guideline").open ? "open" : "closed");
  });
}

"use strict";
// Forms with data-api are sent as JSON with the CSRF token; the answer says where to go on, or why not.
const csrf = document.querySelector("meta[name=csrf]").content;

async function send(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error([content.problem, content.todo].filter(Boolean).join(" ")), { status: answer.status });
  return content;
}

// The fields of a form by name; "selection.language" is a list inside "selection", numbers and blanks are themselves.
const SINGLE = new Set(["dataset", "q", "word", "audit", "finding", "since", "until", "shortest", "longest", "mark"]);
function valuesOf(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled) continue;
    const [outer, inner] = field.name.split(".");
    if (inner) {
      values[outer] ??= {};
      if (SINGLE.has(inner)) values[outer][inner] = field.value;
      else (values[outer][inner] ??= []).push(field.value);
    } else if (field.type === "checkbox") values[field.name] = field.checked;
    else if (field.type === "radio") { if (field.checked) values[field.name] = field.value; }
    else if (field.type === "number") values[field.name] = field.value === "" ? null : Number(field.value);
    else if (field.dataset.lines !== undefined) values[field.name] = field.value.split("\n").map((line) => line.trim()).filter(Boolean);
    else values[field.name] = field.value;
  }
  return values;
}

// Links that sign people in are shown once: there is no way to read a token again.
function invite(form, outcome, content) {
  const list = document.createElement("ul");
  list.className = "invitations";
  for (const person of content.people) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    link.href = person.link;
    const copy = document.createElement("button");
    link.textContent = `Work as ${person.name}`;
    link.className = "button";
    copy.type = "button";
    copy.className = "quiet";
    copy.textContent = "Copy the link";
    copy.dataset.copy = new URL(person.link, location.href).href;
    line.append(`${person.name} (${person.role}): `, link, " ", copy);
    list.append(line);
  }
  const words = document.createElement("p");
  words.textContent = "Each link signs one person in: open your own, give the others theirs. They are shown this once.";
  const on = document.createElement("a");
  on.href = content.location;
  on.textContent = "To the review";
  outcome.classList.add("good");
  outcome.replaceChildren(words, list, on);
  outcome.scrollIntoView();
  list.querySelector("a").focus();
}

for (const form of document.querySelectorAll("form[data-api]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const outcome = form.querySelector(".outcome");
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    try {
      const content = await send(form.dataset.api, valuesOf(form));
      if (content.people?.length) invite(form, outcome, content);
      else location.assign(content.location);
    } catch (error) {
      outcome.textContent = error.message || "The server did not answer. Try again.";
    } finally {
      button.disabled = false;
    }
  });
}
// A token in the fragment of a link never reaches the server's log: it is moved into the form, and sent from there.
for (const field of document.querySelectorAll("[data-from-fragment]")) {
  const value = new URLSearchParams(location.hash.slice(1)).get(field.dataset.fromFragment);
  if (!value) continue;
  field.value = value;
  history.replaceState(null, "", location.pathname + location.search);
  field.form.requestSubmit();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-post]");
  if (button) location.assign((await send(button.dataset.post, {})).location);
});
// Parts of a page are put in place from a newer one; whoever is in a field of them stays there.
function renew(html, ...ids) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const active = document.activeElement?.id;
  const open = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
  for (const id of ids) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old && fresh) old.replaceWith(fresh);
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
}
// A job that is under way is asked about until it has ended; then its result is shown.
async function follow(id) {
  const part = document.getElementById(id);
  const answer = await fetch(part.dataset.renew).catch(() => null);
  if (answer?.ok) renew(await answer.text(), id, "under-way");
  const { renew: again, then } = document.getElementById(id).dataset;
  if (again) setTimeout(follow, 800, id);
  else if (then) location.assign(then);
}
for (const part of document.querySelectorAll("[data-renew]")) setTimeout(follow, 400, part.id);
// What takes time to work out comes after the page: a page that has it is fetched, and its parts are put in place.
function complete(within) {
  for (const place of within.querySelectorAll("[data-later]")) {
    fetch(place.dataset.later).then((answer) => (answer.ok ? answer.text() : "")).then((html) => {
      const later = new DOMParser().parseFromString(html, "text/html");
      for (const part of later.querySelectorAll("main [id]")) document.getElementById(part.id)?.replaceChildren(...part.childNodes);
      fold(document.querySelector("main"));
    }).catch(() => {}); // the link to it is there
  }
}
complete(document);
// On a narrow screen lists and filters fold, but for what was chosen: the records come first. On a wide one what was open before is open again.
const narrow = matchMedia("(max-width: 63.99rem)");
function fold(within) {
  for (const list of within.querySelectorAll("body > nav details, .facet")) {
    const { folded } = list.dataset;
    if (narrow.matches && folded === undefined) {
      list.dataset.folded = list.open ? "open" : "";
      list.open = list.matches(".facet") && Boolean(list.querySelector("[aria-current]"));
    } else if (!narrow.matches && folded !== undefined) {
      list.open ||= folded === "open";
      delete list.dataset.folded;
    }
  }
}
fold(document);
narrow.addEventListener("change", () => fold(document));
// Which columns of the records are shown, and how many lines of each text: as this browser was last told.
const viewing = document.getElementById("view");
if (viewing) {
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem("claimlab view")) ?? {}; } catch { /* nothing is kept here */ }
  const table = document.querySelector("table[data-peek]");
  const apply = ({ name, checked }) => {
    if (name === "dense") table.classList.toggle("dense", checked);
    else for (const cell of table.querySelectorAll(`[data-column="${name}"], [data-name="${name}"]`)) cell.hidden = !checked;
  };
  for (const box of viewing.querySelectorAll("input")) {
    box.checked = kept[box.name] ?? box.checked;
    apply(box);
  }
  viewing.addEventListener("change", (event) => {
    kept[event.target.name] = event.target.checked;
    apply(event.target);
    localStorage.setItem("claimlab view", JSON.stringify(kept));
  });
}
// The form of a verb: what differs from the defaults goes into the command, which is the job.
const action = document.getElementById("action");
if (action) {
  const asked = () => {
    const pairs = [["name", action.elements.name.value]];
    for (const field of action.querySelectorAll("[data-option]")) {
      const { option, default: standard } = field.dataset;
      let values = field.tagName === "TEXTAREA" ? field.value.split("\n") : [field.value];
      if (field.type === "radio" || (field.type === "checkbox" && standard === undefined)) values = field.checked ? [field.value] : [];
      else if (field.type === "checkbox") values = [String(field.checked)];
      for (const value of values) if (value.trim() && value !== standard) pairs.push(["option", `${option}=${value.trim()}`]);
    }
    return new URLSearchParams(pairs);
  };
  const outcome = action.querySelector(".outcome");
  action.addEventListener("change", async () => {
    const answer = await fetch(`${action.dataset.page}?${asked()}`).catch(() => null);
    if (answer?.ok) renew(await answer.text(), "command");
  });
  action.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      location.assign((await send(`/api${action.dataset.page}?${asked()}`, {})).location);
    } catch (error) {
      outcome.textContent = error.message || "The server did not answer. Try again.";
    }
  });
}
// A list is read row by row beside its table: j and k step, Enter opens the page of the row, Escape closes it.
const list = matchMedia("(min-width: 64rem)").matches && document.querySelector("table[data-peek]");
let peeked = -1;
const linkOf = (at) => list.tBodies[0].rows[at]?.querySelector("a[href]").href;
async function peek(at) {
  const rows = list.tBodies[0].rows;
  if (!rows[at]) {
    const on = document.querySelector(`.pager a[rel=${at < 0 ? "prev" : "next"}]`);
    if (on) location.assign(`${on.href}#${at < 0 ? "last" : "first"}`);
    return;
  }
  rows[peeked]?.removeAttribute("aria-current");
  peeked = at;
  rows[at].setAttribute("aria-current", "true");
  const html = await fetch(linkOf(at)).then((answer) => answer.text()).catch(() => "");
  if (peeked !== at || !html) return; // another row was chosen meanwhile
  const page = new DOMParser().parseFromString(html, "text/html");
  let pane = document.getElementById("peek");
  if (!pane) {
    pane = Object.assign(document.createElement("aside"), { id: "peek" });
    pane.setAttribute("aria-live", "polite");
    list.closest(".split").append(pane);
  }
  page.querySelectorAll(".steps").forEach((steps) => steps.remove());
  const title = document.createElement("h2");
  const link = Object.assign(document.createElement("a"), { href: linkOf(at), textContent: page.querySelector("h1").textContent });
  title.append(link);
  pane.replaceChildren(title, ...page.querySelector("main").childNodes);
  pane.scrollTop = 0;
  complete(pane);
  rows[at].scrollIntoView({ block: "nearest" });
}
if (list) {
  list.tBodies[0].addEventListener("click", (event) => {
    if (!event.target.closest("a") && getSelection().isCollapsed) peek(event.target.closest("tr").rowIndex - 1);
  });
  if (location.hash === "#first") peek(0);
  if (location.hash === "#last") peek(list.tBodies[0].rows.length - 1);
}
// Keys: j and k step through a list, / searches, g and a letter goes to a page, ? shows them all.
const PLACES = { h: "/", a: "/add", j: "/jobs", m: "/match" };
let going = 0; // when g was pressed
document.getElementById("keys-shown")?.addEventListener("click", () => document.getElementById("help").showModal());
document.addEventListener("keydown", (event) => {
  const help = document.getElementById("help");
  if (help?.open || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const search = document.querySelector(":is(main, body > header) input[type=search]");
  const goes = Date.now() - going < 1500 && PLACES[event.key];
  const step = { j: "next", k: "prev" }[event.key];
  going = 0;
  if (goes && help?.querySelector("[data-places]")) location.assign(goes);
  else if (event.key === "g") going = Date.now();
  else if (event.key === "?" && help) help.showModal();
  else if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  } else if (step && list) peek(step === "next" ? peeked + 1 : Math.max(peeked - 1, peeked < 1 ? -1 : 0));
  else if (step) document.querySelector(`.steps a[rel=${step}]`)?.click();
  else if (list && peeked >= 0 && event.key === "Enter" && !event.target.closest("a, button, summary")) location.assign(linkOf(peeked));
  else if (list && event.key === "Escape") {
    document.getElementById("peek")?.remove();
    list.querySelector("tr[aria-current]")?.removeAttribute("aria-current");
    peeked = -1;
  }
});

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
const SINGLE = new Set(["dataset", "q", "word", "audit", "finding", "since", "until"]);
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
    link.textContent = new URL(person.link, location.href).href;
    line.append(`${person.name} (${person.role}): `, link);
    list.append(line);
  }
  const words = document.createElement("p");
  words.textContent = "Give everybody their own link. They are shown this once.";
  const on = document.createElement("a");
  on.href = content.location;
  on.className = "button";
  on.textContent = "To the review";
  outcome.classList.add("good");
  outcome.replaceChildren(words, list, on);
  outcome.scrollIntoView();
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

for (const button of document.querySelectorAll("[data-post]")) {
  button.addEventListener("click", async () => location.assign((await send(button.dataset.post, {})).location));
}
// Counts over many records come after the records: the page that has them is fetched, and its parts are put in place.
for (const place of document.querySelectorAll("[data-later]")) {
  fetch(place.dataset.later).then((answer) => (answer.ok ? answer.text() : "")).then((html) => {
    const counts = new DOMParser().parseFromString(html, "text/html");
    for (const id of ["matches", "facets", "overview"]) {
      const part = counts.getElementById(id);
      if (part) document.getElementById(id).replaceChildren(...part.childNodes);
    }
    fold(document.getElementById("facets"));
  }).catch(() => {}); // the link to the counts is there
}
// On a narrow screen lists and filters fold, but for what was chosen: the records come first.
function fold(within) {
  if (!matchMedia("(max-width: 63.99rem)").matches) return;
  for (const list of within.querySelectorAll("body > nav details, .facet")) list.open = list.matches(".facet") && Boolean(list.querySelector("[aria-current]"));
}
fold(document);

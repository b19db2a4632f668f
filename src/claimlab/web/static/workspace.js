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

function valuesOf(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled) continue;
    if (field.type === "checkbox") values[field.name] = field.checked;
    else if (field.type === "radio") { if (field.checked) values[field.name] = field.value; }
    else if (field.type === "number") values[field.name] = field.value === "" ? null : Number(field.value);
    else if (field.dataset.lines !== undefined) values[field.name] = field.value.split("\n").map((line) => line.trim()).filter(Boolean);
    else values[field.name] = field.value;
  }
  return values;
}

for (const form of document.querySelectorAll("form[data-api]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const outcome = form.querySelector(".outcome");
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    try {
      const content = await send(form.dataset.api, valuesOf(form));
      location.assign(content.location);
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

"use strict";
// Add data: files are sent one after another; a change of a role or a label shows what would become of the files.
const drop = document.getElementById("drop");
const plan = document.getElementById("plan");

async function upload(files) {
  const outcome = drop.querySelector(".outcome");
  const saved = [];
  try {
    for (const file of files) {
      if (file.size > Number(drop.dataset.limit)) throw new Error(`${file.name} is too large to be dropped. Put it into the folder of the workspace, and name it below.`);
      outcome.textContent = `Sending ${file.name} …`;
      const answer = await fetch(`/api/files?${new URLSearchParams({ name: file.name })}`, { method: "POST", headers: { "X-CSRF-Token": csrf }, body: file });
      const content = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error([content.problem, content.todo].filter(Boolean).join(" "));
      saved.push(["file", content.path]);
    }
    if (saved.length) location.assign(`/add?${new URLSearchParams(saved)}`);
  } catch (error) {
    outcome.textContent = error.message || "The server did not answer. Try again.";
  }
}

if (drop) {
  drop.querySelector("input").addEventListener("change", (event) => upload(event.target.files));
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); upload(event.dataTransfer.files); });
}

if (plan) {
  const looking = document.getElementById("looking");
  const chosen = () => new URLSearchParams([...new FormData(plan)].filter(([, value]) => value));
  let latest = 0;
  plan.addEventListener("change", async () => {
    const mine = ++latest;
    looking.textContent = "Looking again …";
    const answer = await fetch(`/add?${chosen()}`).catch(() => null);
    if (mine !== latest) return;
    looking.textContent = answer?.ok ? "" : "The server did not answer. Try again.";
    if (!answer?.ok) return;
    renew(await answer.text(), "found");
    history.replaceState(null, "", `/add?${chosen()}`);
  });
  plan.addEventListener("submit", async (event) => {
    if (!document.getElementById("start")) return; // nothing to import yet: look again
    event.preventDefault();
    const outcome = plan.querySelector(":scope > .outcome");
    try {
      location.assign((await send(`/api/add?${chosen()}`, {})).location);
    } catch (error) {
      outcome.textContent = error.message || "The server did not answer. Try again.";
    }
  });
}

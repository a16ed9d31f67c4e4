// Shows each part's state, refreshed while the page is open. Cards are updated in place, so nothing flickers.
const parts = document.getElementById("parts");
const summary = document.getElementById("summary");

function card(name) {
  let item = parts.querySelector(`[data-part="${name}"]`);
  if (!item) {
    item = document.createElement("li");
    item.dataset.part = name;
    item.append(Object.assign(document.createElement("span"), { className: "state" }),
      Object.assign(document.createElement("strong"), { textContent: name }),
      Object.assign(document.createElement("span"), { className: "detail" }));
    parts.append(item);
  }
  return item;
}

function show(readiness) {
  for (const [name, part] of Object.entries(readiness.parts)) {
    const item = card(name);
    const state = item.querySelector(".state");
    state.textContent = part.ok ? "ready" : "away";
    state.className = `state ${part.ok ? "good" : "bad"}`;
    item.querySelector(".detail").textContent = part.detail;
  }
  summary.textContent = readiness.ready ? "All parts are ready." : "A part does not answer; the stack restarts what died.";
  summary.className = readiness.ready ? "good" : "bad";
}

async function refresh() {
  try {
    show(await (await fetch("/readyz")).json());
  } catch {
    summary.textContent = "The API does not answer. Is the stack running? `lanista status` tells.";
    summary.className = "bad";
  }
}

async function start() {
  const system = await (await fetch("/api/v1/system")).json();
  document.getElementById("version").textContent = `Lanista ${system.version}`;
  const titles = { tensorboard: "TensorBoard", temporal: "Temporal" };
  for (const [name, url] of Object.entries(system.links)) {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("a"), { href: url, textContent: titles[name] ?? name }));
    document.getElementById("links").append(item);
  }
  await refresh();
  setInterval(refresh, 3000);
}

start();

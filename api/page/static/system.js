// Shows each part's state, refreshed while the page is open, and links to the other pages once signed in.
const element = (id) => document.getElementById(id);
const make = (tag, values) => Object.assign(document.createElement(tag), values);
const TITLES = { tensorboard: "TensorBoard", temporal: "Temporal" };
const SIGNED_IN = "lanista-signed-in"; // the session itself is a cookie that scripts cannot read

function card(name) {
  let item = element("parts").querySelector(`[data-part="${name}"]`);
  if (!item) { // made once and then updated in place, so that nothing flickers
    item = make("li", {});
    item.dataset.part = name;
    item.append(make("span", { className: "state" }), make("strong", { textContent: name }),
      make("span", { className: "detail" }));
    element("parts").append(item);
  }
  return item;
}

function show(readiness) {
  for (const [name, part] of Object.entries(readiness.parts)) {
    const item = card(name);
    item.dataset.ok = part.ok;
    item.querySelector(".state").textContent = part.ok ? "ready" : "away";
    item.querySelector(".detail").textContent = part.detail;
  }
  say(readiness.ready, readiness.ready ? "All parts are ready." : "A part does not answer; the stack restarts what died.");
}

function say(good, text) {
  element("summary").textContent = text;
  element("summary").dataset.ok = good;
}

async function refresh() {
  try {
    show(await (await fetch("/readyz")).json());
  } catch {
    say(false, "The API does not answer. Is the stack running? `lanista status` tells.");
  }
}

async function showLinks() {
  const answer = await fetch("/api/v1/system");
  if (!answer.ok) {
    localStorage.removeItem(SIGNED_IN);
    element("sign-in").hidden = false;
    return;
  }
  element("sign-in").hidden = true;
  for (const [name, url] of Object.entries((await answer.json()).links)) {
    const item = make("li", {});
    item.append(make("a", { href: url, textContent: TITLES[name] ?? name }));
    element("links").append(item);
  }
}

async function signIn(event) {
  event.preventDefault();
  const answer = await fetch("/api/v1/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token: element("token").value.trim() }),
  });
  const body = await answer.json();
  element("refusal").textContent = answer.ok ? "" : body.detail;
  if (answer.ok) {
    localStorage.setItem(SIGNED_IN, "yes");
    element("token").value = "";
    await showLinks();
  }
}

async function start() {
  element("sign-in").addEventListener("submit", signIn);
  element("version").textContent = `Lanista ${(await (await fetch("/healthz")).json()).version}`;
  await refresh();
  setInterval(refresh, 3000);
  if (localStorage.getItem(SIGNED_IN)) await showLinks();
  else element("sign-in").hidden = false;
}

start();

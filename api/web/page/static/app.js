// The frame: finds the page for an address, loads it, shows it, and keeps it up to date while events come.
import { resumeSession, session, signIn, signOut, takeCode } from "./core/api.js";
import { drawCharts } from "./charts/line_charts.js";
import { h, patchChildren } from "./core/dom.js";
import { zone } from "./core/format.js";
import { follow, stopFollowing } from "./core/event_stream.js";
import { interceptLinks, match, query, withQuery } from "./core/router.js";
import { ask, toast } from "./components/dialog.js";

const ROUTES = [
  ["/trials", "trials"],
  ["/trials/new", "new_trial"],
  ["/trials/:trial", "trial"],
  ["/trials/:trial/payoff", "payoff"],
  ["/trials/:trial/matchmaking", "matchmaking"],
  ["/trials/:trial/lineage", "lineage"],
  ["/trials/:trial/promotions", "promotions"],
  ["/trials/:trial/matches", "matches"],
  ["/versions/:version", "version"],
  ["/matches/:match", "replay"],
  ["/play/:version", "play"],
  ["/tournaments", "tournaments"],
  ["/tournaments/new", "new_tournament"],
  ["/tournaments/:tournament", "tournament"],
  ["/schedules", "schedules"],
  ["/system", "system"],
];
const NAVIGATION = [
  ["/trials", "Trials"],
  ["/tournaments", "Tournaments"],
  ["/schedules", "Schedules"],
  ["/system", "System"],
];
const REFRESH_MS = 800;
const element = (id) => document.getElementById(id);

let present = null; // the page that is shown: its module, context and data
let visit = 0;
let opening = 0;

export async function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  await open();
}

async function open() {
  if (location.pathname === "/") history.replaceState(null, "", "/trials");
  showNavigation();
  const mine = ++opening;
  const [name, parameters] = pageAt(location.pathname);
  const page = await import(`./pages/${name}.js`);
  if (mine === opening) await show(page, parameters); // else somebody went on meanwhile
}

function pageAt(path) {
  if (!session.who) return ["sign_in", {}];
  for (const [pattern, name] of ROUTES) {
    const parameters = match(pattern, path);
    if (parameters) return [name, parameters];
  }
  return ["not_found", {}];
}

async function show(page, parameters) {
  const path = location.pathname;
  const same = present?.page === page && present.path === path;
  if (!same) present?.page.leave?.(present.context);
  const context = same ? present.context : { parameters, state: {}, go, refresh, redraw };
  context.query = query();
  context.setQuery = (changes) => go(withQuery(changes), { replace: true });
  present = { page, path, context, data: same ? present.data : undefined, seen: same && present.seen };
  if (!same) page.enter?.(context);
  if (session.who) follow(page.trialOf?.(context) ?? null, { hear, state: lineChanged });
  await refresh();
  if (!same) {
    window.scrollTo(0, 0);
    if (visit > 1 && document.activeElement === document.body) element("main").focus({ preventScroll: true });
  }
}

/** Load the page's data again and patch what changed. */
async function refresh() {
  const mine = ++visit;
  const shown = present;
  const patience = shown.data === undefined ? setTimeout(() => say("Loading …"), 200) : null;
  try {
    const data = (await shown.page.load?.(shown.context)) ?? {};
    if (mine !== visit || shown !== present) return;
    shown.data = data;
    redraw();
  } catch (problem) {
    if (mine !== visit || shown !== present) return;
    if (problem.status === 401) return open();
    if (shown.data === undefined || problem.status === 404) failure(problem);
    else showLine(false);
  } finally {
    clearTimeout(patience);
  }
}

function redraw() {
  if (present.data === undefined) return;
  const { page, context, data } = present;
  const view = page.view(data, context);
  document.title = `${page.title(data, context)} · Lanista`;
  patchChildren(element("main"), [view].flat());
  drawCharts(element("main"));
  if (!present.seen) markSeen();
  present.seen = true;
}

/** Note, for whoever measures it, when the page with its data has been painted. */
function markSeen() {
  requestAnimationFrame(() => setTimeout(() => performance.mark("lanista-shown")));
}

let due = null;
function hear(event) {
  if (!present) return;
  const outcome = present.page.hear?.(event, present.context) ?? event.type !== "progress";
  if (outcome === "redraw") redraw();
  else if (outcome) refreshSoon();
}

function refreshSoon() {
  due ??= setTimeout(() => {
    due = null;
    if (document.visibilityState === "visible") refresh();
  }, REFRESH_MS);
}

// What happened before the line stood was told to nobody: the page may show what was true before.
function lineChanged(connected) {
  showLine(connected);
  if (connected) refreshSoon();
}

function failure(problem) {
  const known = problem.status === 404;
  document.title = "Not found · Lanista";
  patchChildren(element("main"), [
    h(
      "section",
      { class: "empty" },
      h("h1", {}, known ? "There is nothing here" : (problem.title ?? "The page cannot be shown")),
      h("p", { role: "alert" }, problem.message),
      h("p", {}, h("a", { href: "/trials" }, "All trials"), " · ", h("button", { class: "plain", onclick: () => open() }, "Try again")),
    ),
  ]);
}

function say(text) {
  patchChildren(element("main"), [h("p", { class: "quiet" }, text)]);
}

function showLine(connected) {
  element("line").textContent = connected ? "● live" : "○ reconnecting …";
  element("line").dataset.ok = connected;
}

function showNavigation() {
  const links = session.who ? NAVIGATION : [];
  patchChildren(
    element("nav"),
    links.map(([href, name]) =>
      h(
        "a",
        {
          href,
          key: href,
          "aria-current": location.pathname.startsWith(href) ? "page" : null,
        },
        name,
      ),
    ),
  );
  patchChildren(element("account"), [
    themeButton(),
    session.who &&
      h(
        "button",
        { class: "plain", key: "out", onclick: leave, title: `signed in as ${session.who.name} (${session.who.scope})` },
        "Sign out",
      ),
  ]);
}

function themeButton() {
  const themes = { auto: "light", light: "dark", dark: "auto" };
  const now = document.documentElement.dataset.theme;
  const name = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[now];
  return h(
    "button",
    {
      class: "plain",
      key: "theme",
      "aria-label": `Colours: ${now}. Change`,
      onclick: () => {
        document.documentElement.dataset.theme = themes[now];
        localStorage.setItem("lanista-theme", themes[now]);
        showNavigation();
        redraw();
      },
    },
    name,
  );
}

async function leave() {
  stopFollowing();
  clearTimeout(due);
  due = null;
  visit += 1; // what is still being loaded is for nobody now
  try {
    await signOut();
    element("line").textContent = "";
    await open();
  } catch (problem) {
    toast(problem.message, "bad");
  }
}

async function enterSession(code) {
  await resumeSession();
  if (!code || !(await mayReplace())) return;
  try {
    await signIn({ code });
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    if (session.who) toast(problem.message, "bad");
    else session.refusal = problem.message;
  }
}

/** A link may be another's: nobody who is signed in becomes somebody else unasked. */
async function mayReplace() {
  return (
    !session.who ||
    ask({
      title: "Sign in anew?",
      action: "Sign in anew",
      text: `You are signed in as ${session.who.name} (${session.who.scope}). The link you followed signs you in as whoever made it.`,
    })
  );
}

async function start() {
  interceptLinks(go);
  window.addEventListener("popstate", () => open());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && present && refresh());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  element("zone").textContent = `times in ${zone()}`;
  try {
    await enterSession(takeCode());
  } catch (problem) {
    failure(problem);
    return;
  }
  await open();
  const health = await (await fetch("/healthz")).json();
  element("version").textContent = `Lanista ${health.version}`;
}

start();

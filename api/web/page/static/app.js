// The entry point: finds the page for an address, loads it, shows it, and refreshes it when events arrive.
import { hasScope, openFile, resumeSession, session, signIn, signOut, takeSignInCode } from "./core/api.js";
import { drawCharts } from "./charts/line_charts.js";
import { askForParts, resetConnection, setConnected, watchParts } from "./core/connection.js";
import { h, patchChildren } from "./core/dom.js";
import { zone } from "./core/format.js";
import { follow, stopFollowing } from "./core/event_stream.js";
import { retryParts } from "./core/parts.js";
import { interceptLinks, match, query, withQuery } from "./core/router.js";
import { forgetLoad, loadSoon, noteLoad } from "./core/schedule.js";
import { showTab, stateOfTrial } from "./core/tab.js";
import { ask, toast } from "./components/dialog.js";
import { listenForSearch, openSearch } from "./components/search_box.js";

const ROUTES = [
  ["/trials", "trials"],
  ["/trials/new", "new_trial"],
  ["/trials/:trial", "trial"],
  ["/trials/:trial/fork", "fork"],
  ["/trials/:trial/payoff", "payoff"],
  ["/trials/:trial/metrics", "metrics"],
  ["/trials/:trial/matchmaking", "matchmaking"],
  ["/trials/:trial/lineage", "lineage"],
  ["/trials/:trial/promotions", "promotions"],
  ["/trials/:trial/matches", "matches"],
  ["/trials/:trial/problems", "problems"],
  ["/trials/:trial/probes", "probes"],
  ["/players/:player", "player"],
  ["/versions/:version", "version"],
  ["/versions/:version/against/:opponent", "head_to_head"],
  ["/matches/:match", "replay"],
  ["/people-games/:game", "people_replay"],
  ["/play/:version", "play"],
  ["/tournaments", "tournaments"],
  ["/tournaments/new", "new_tournament"],
  ["/tournaments/:tournament", "tournament"],
  ["/compare", "compare"],
  ["/sweeps", "sweeps"],
  ["/sweeps/new", "new_sweep"],
  ["/sweeps/:sweep", "sweep"],
  ["/schedules", "schedules"],
  ["/alerts", "alerts"],
  ["/system", "system"],
  ["/tensorboard", "tensorboard"],
];
const NAVIGATION = [
  ["/trials", "Trials"],
  ["/tournaments", "Tournaments"],
  ["/sweeps", "Sweeps"],
  ["/schedules", "Schedules"],
  ["/alerts", "Alerts", "operator"],
  ["/system", "System"],
];
const element = (id) => document.getElementById(id);

let current = null; // the page on display: its module, context and data
let loads = 0;
let shownLoad = 0; // the number of the load on display; older ones are discarded
let navigations = 0;

export async function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  await open();
}

async function open() {
  if (location.pathname === "/") history.replaceState(null, "", "/trials");
  showNavigation();
  const ticket = ++navigations;
  const [name, parameters] = pageAt(location.pathname);
  const page = await import(`./pages/${name}.js`);
  if (ticket === navigations) await show(page, parameters); // else the user has navigated on
}

function pageAt(path) {
  if (!session.user) return ["sign_in", {}];
  for (const [pattern, name] of ROUTES) {
    const parameters = match(pattern, path);
    if (parameters) return [name, parameters];
  }
  return ["not_found", {}];
}

async function show(page, parameters) {
  const path = location.pathname;
  const same = current?.page === page && current.path === path;
  if (!same) current?.page.leave?.(current.context);
  const context = same ? current.context : { parameters, state: {}, go, refresh, redraw };
  context.query = query();
  context.setQuery = (changes) => go(withQuery(changes), { replace: true });
  current = { page, path, context, data: same ? current.data : undefined, painted: same && current.painted };
  if (!same) page.enter?.(context);
  if (session.user) follow(page.trialOf?.(context) ?? null, { onEvent, onConnection: connectionChanged });
  await refresh();
  if (!same) {
    window.scrollTo(0, 0);
    if (loads > 1 && document.activeElement === document.body) element("main").focus({ preventScroll: true });
  }
}

/** Load the page's data again and patch what changed. */
async function refresh() {
  const ticket = ++loads;
  const noteEnd = noteLoad();
  const shown = current;
  const isSuperseded = () => ticket < shownLoad || shown !== current;
  // a later load may have shown the page before this one is done
  const loadingMessage = setTimeout(() => shown === current && shown.data === undefined && showMessage("Loading …"), 200);
  try {
    const data = (await shown.page.load?.(shown.context)) ?? {};
    if (isSuperseded()) return;
    shownLoad = ticket;
    shown.data = data;
    redraw();
  } catch (problem) {
    if (isSuperseded()) return;
    shownLoad = ticket;
    if (problem.status === 401) return open();
    if (shown.data === undefined || problem.status === 404) showError(problem);
    else setConnected(false);
  } finally {
    clearTimeout(loadingMessage);
    noteEnd();
  }
}

function redraw() {
  if (current.data === undefined) return;
  const { page, context, data } = current;
  const view = page.view(data, context);
  showTab(page.title(data, context), stateOf());
  patchChildren(element("main"), [view].flat());
  drawCharts(element("main"));
  if (!current.painted) markPainted();
  current.painted = true;
}

/** What the tab shows of the page: that of its trial, unless the page knows better. */
function stateOf() {
  const { page, context, data } = current;
  if (page.stateOf) return page.stateOf(data, context);
  return data.trial?.status ? stateOfTrial(data.trial) : null;
}

/** A performance mark: the page has been painted with its data. */
function markPainted() {
  requestAnimationFrame(() => setTimeout(() => performance.mark("lanista-shown")));
}

function onEvent(event) {
  if (!current) return;
  const outcome = current.page.onEvent?.(event, current.context) ?? event.type !== "progress";
  if (outcome === "redraw") redraw();
  else if (outcome) loadSoon(refresh, event.level !== "bad" && event.type !== "trial.status");
}

// Events before the connection was open did not arrive, so the page reloads its data.
function connectionChanged(connected) {
  setConnected(connected);
  if (connected) loadSoon(refresh);
}

function showError(problem) {
  const known = problem.status === 404;
  document.title = `${known ? "Not found" : "Error"} · Lanista`;
  patchChildren(element("main"), [
    h(
      "section",
      { class: "empty" },
      h("h1", {}, known ? "Not found" : (problem.title ?? "The page could not be loaded")),
      h("p", { role: "alert" }, problem.message),
      h("p", {}, h("a", { href: "/trials" }, "All trials"), " · ", h("button", { class: "plain", onclick: () => open() }, "Try again")),
    ),
  ]);
}

function showMessage(text) {
  patchChildren(element("main"), [h("p", { class: "quiet" }, text)]);
}

function showNavigation() {
  const links = session.user ? NAVIGATION.filter(([, , scope]) => !scope || hasScope(scope)) : [];
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
    session.user &&
      h(
        "button",
        { class: "plain", key: "search", "aria-keyshortcuts": "Control+K Meta+K", title: "Search (Ctrl-K)", onclick: () => openSearch(go) },
        "⌕ Search",
      ),
    themeButton(),
    session.user &&
      h(
        "button",
        { class: "plain", key: "out", onclick: endSession, title: `signed in as ${session.user.name} (${session.user.scope})` },
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
      "aria-label": `Theme: ${now}. Change`,
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

async function endSession() {
  stopFollowing();
  forgetLoad();
  shownLoad = ++loads; // discard loads in progress
  try {
    await signOut();
    resetConnection();
    await open();
  } catch (problem) {
    toast(problem.message, "bad");
  }
}

async function enterSession(code) {
  await resumeSession();
  if (!code || !(await confirmNewSession())) return;
  try {
    await signIn({ code });
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    if (session.user) toast(problem.message, "bad");
    else session.error = problem.message;
  }
}

/** The link may be another user's: a signed-in user is asked before the session changes. */
async function confirmNewSession() {
  return (
    !session.user ||
    ask({
      title: "Sign in again?",
      action: "Sign in again",
      text: `You are signed in as ${session.user.name} (${session.user.scope}). The link signs you in as the user who created it.`,
    })
  );
}

async function start() {
  interceptLinks(go, (path, how) => openFile(path, how).catch((problem) => toast(problem.message, "bad")));
  window.addEventListener("popstate", () => open());
  listenForSearch(go);
  retryParts(() => current && loadSoon(refresh));
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && current && refresh());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  element("zone").textContent = `times in ${zone()}`;
  try {
    await enterSession(takeSignInCode());
  } catch (problem) {
    showError(problem);
    return;
  }
  watchParts(() => current?.data && showTab(current.page.title(current.data, current.context), stateOf()));
  await open();
  if (session.user) askForParts();
  const health = await (await fetch("/healthz")).json();
  element("version").textContent = `Lanista ${health.version}`;
}

start();

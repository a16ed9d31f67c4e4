// The search over everything (Ctrl-K): trials, players, versions, tournaments, sweeps and pages, by keyboard alone.
import { get, hasScope, session } from "../core/api.js";
import { h, patchChildren } from "../core/dom.js";

const PAGES = [
  ["Trials", "/trials"],
  ["Trials as a table", "/trials?view=table"],
  ["Start a trial", "/trials/new", "operator"],
  ["Compare trials", "/compare"],
  ["Tournaments", "/tournaments"],
  ["Start a tournament", "/tournaments/new", "operator"],
  ["Sweeps", "/sweeps"],
  ["Start a sweep", "/sweeps/new", "operator"],
  ["Schedules", "/schedules"],
  ["Alerts", "/alerts", "operator"],
  ["System", "/system"],
  ["TensorBoard", "/tensorboard"],
];
const ADDRESS = {
  trial: (id) => `/trials/${id}`,
  player: (id) => `/players/${id}`,
  version: (id) => `/versions/${id}`,
  tournament: (id) => `/tournaments/${id}`,
  sweep: (id) => `/sweeps/${id}`,
};
const PAUSE_MS = 120;

/** Open the search on Ctrl-K or ⌘K, wherever the focus is. */
export function listenForSearch(go) {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    openSearch(go);
  });
}

export function openSearch(go) {
  if (!session.user || document.querySelector("dialog[open]")) return;
  const state = { results: [], at: 0, words: "", asked: null, timer: null, message: "" };
  const list = h("ul", { id: "found", role: "listbox", "aria-label": "Results" });
  const said = h("p", { class: "quiet", role: "status" });
  const input = h("input", {
    type: "search",
    role: "combobox",
    "aria-label": "Search trials, players, versions, tournaments, sweeps and pages",
    "aria-expanded": "true",
    "aria-controls": "found",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 200,
    placeholder: "first-league, main-3, main v12, an id …",
  });
  const box = h("dialog", { class: "search", "aria-label": "Search" }, input, list, said);
  const show = () => draw({ list, said, input }, state, choose);
  const choose = (result) => {
    box.close();
    go(result.address);
  };
  input.addEventListener("input", () => ask(input.value, state, show));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault(); // in a search field the first one would only clear the text
      box.close();
    } else pressed(event, state, show, choose);
  });
  box.addEventListener("click", (event) => event.target === box && box.close());
  box.addEventListener("close", () => {
    state.asked?.abort();
    clearTimeout(state.timer);
    box.remove();
  });
  document.body.append(box);
  box.showModal();
  ask("", state, show);
}

function pressed(event, state, show, choose) {
  const count = state.results.length;
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 };
  if (event.key in moves && count) {
    const next = state.at + moves[event.key];
    state.at = Math.abs(moves[event.key]) === 1 ? (next + count) % count : Math.max(0, Math.min(count - 1, next));
    event.preventDefault();
    show();
  } else if (event.key === "Enter" && count) {
    event.preventDefault();
    choose(state.results[state.at]);
  }
}

/** Pages at once, what the server finds after a pause in typing; an older answer is not waited for. */
function ask(text, state, show) {
  state.words = text.trim();
  state.asked?.abort();
  clearTimeout(state.timer);
  const pages = pagesWith(state.words);
  Object.assign(state, { results: pages, at: 0, message: state.words ? "Searching …" : "Type a name; ↑ ↓ choose, Enter opens." });
  show();
  if (!state.words) return;
  const asked = new AbortController();
  state.asked = asked;
  state.timer = setTimeout(async () => {
    try {
      const { items } = await get("/search", { q: state.words }, asked.signal);
      if (asked.signal.aborted) return;
      const found = items.map((item) => ({ ...item, address: ADDRESS[item.kind](item.id) }));
      state.results = [...found, ...pages];
      state.message = state.results.length === 1 ? "1 result" : `${state.results.length} results`;
    } catch (problem) {
      if (asked.signal.aborted) return;
      state.message = problem.message;
    }
    show();
  }, PAUSE_MS);
}

const pagesWith = (words) =>
  PAGES.filter(([name, , scope]) => (!scope || hasScope(scope)) && name.toLowerCase().includes(words.toLowerCase())).map(
    ([name, address]) => ({ kind: "page", id: address, name, within: "", detail: "", address }),
  );

function draw({ list, said, input }, state, choose) {
  patchChildren(
    list,
    state.results.map((result, place) =>
      h(
        "li",
        {
          id: `found-${place}`,
          key: `${result.kind} ${result.id}`,
          role: "option",
          "aria-selected": place === state.at,
          onclick: () => choose(result),
        },
        h("span", { class: "kind" }, result.kind),
        h("strong", {}, result.name),
        h("small", {}, [result.within, result.detail].filter(Boolean).join(" · ")),
      ),
    ),
  );
  if (state.results.length) input.setAttribute("aria-activedescendant", `found-${state.at}`);
  else input.removeAttribute("aria-activedescendant");
  said.textContent = state.message;
  list.children[state.at]?.scrollIntoView({ block: "nearest" });
}

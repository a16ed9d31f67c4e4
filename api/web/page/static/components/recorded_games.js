// Games of outside processes that were kept tick by tick: list, download, picture.
import { h } from "../core/dom.js";
import { bytes, humanize } from "../core/format.js";
import { table, time } from "./widgets.js";

/** The card of a trial's recorded games; the query `recorded` opens the picture of one. */
export function recordedGames(trial, page, context) {
  const { query } = context;
  const shown = page.items.find((game) => game.id === query.recorded);
  return h(
    "section",
    { class: "card", key: "recorded", "aria-label": "Recorded sessions" },
    h("h2", {}, "Recorded sessions"),
    h(
      "p",
      { class: "quiet" },
      "Games of outside processes, kept tick by tick. ",
      h("code", {}, "lanista gamecore replay"),
      " replays a downloaded one.",
    ),
    table(
      "Recorded sessions",
      [
        ["Session", (game) => h("a", { href: file(trial, game), download: true }, game.session)],
        ["Players", (game) => game.players.map((name) => name || "outside").join(", ")],
        ["Result", (game) => result(game)],
        ["For", (game) => humanize(game.info.purpose ?? "")],
        ["Ticks", (game) => game.ticks, "number"],
        ["Size", (game) => bytes(game.size), "number"],
        ["Began", (game) => time(game.started_at)],
        [
          "Picture",
          (game) => drawn(trial) && h("button", { class: "plain", onclick: () => context.setQuery({ recorded: game.id }) }, "Show"),
        ],
      ],
      page.items,
      (game) => game.id,
    ),
    h(
      "div",
      { class: "row" },
      query.recorded_before &&
        h("button", { class: "plain", onclick: () => context.setQuery({ recorded_before: "", recorded: "" }) }, "Latest"),
      page.next_cursor &&
        h("button", { class: "plain", onclick: () => context.setQuery({ recorded_before: page.next_cursor, recorded: "" }) }, "Older"),
    ),
    shown && h("figure", { key: shown.id }, picture(trial, shown), h("figcaption", {}, `${shown.session}, ${shown.ticks} ticks`)),
  );
}

const file = (trial, game) => `/api/v1/trials/${trial.id}/recorded-games/${game.id}`;
const drawn = (trial) => Boolean(trial.spec?.game?.dump?.render);
const result = (game) => (game.returns.length ? game.returns.map((value) => Number(value.toFixed(3))).join(" : ") : game.aborted || "none");

/** The picture is drawn by a worker at the first request, which can fail: then the words of the refusal take its place. */
function picture(trial, game) {
  const url = `${file(trial, game)}/picture`;
  const failed = async (event) => {
    const answer = await fetch(url);
    const problem = answer.ok ? {} : await answer.json().catch(() => ({}));
    event.target.replaceWith(h("pre", { class: "trace" }, problem.detail ?? "The picture could not be drawn."));
  };
  return h("img", { src: url, alt: `The recorded session ${game.session}`, onerror: failed });
}

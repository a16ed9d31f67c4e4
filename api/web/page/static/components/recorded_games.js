// Games of outside processes that were kept tick by tick: list, download, picture.
import { credentials } from "../core/api.js";
import { h } from "../core/dom.js";
import { bytes, humanize } from "../core/format.js";
import { table, time } from "./widgets.js";

/** The card of a trial's recorded games; the query `recorded` opens the picture of one. */
export function recordedGames(trial, players, page, context) {
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
        ["Players", (game) => game.players.flatMap((name, seat) => [seat ? ", " : "", playerName(name, game, players)])],
        ["Result", (game) => result(game)],
        ["Played for", (game) => humanize(game.info.purpose ?? "")],
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

/** Who played a seat: a version of the league is named by its id, which leads to its page. */
function playerName(name, game, players) {
  if (!name) return "outside";
  if (!/^[0-9a-f-]{36}$/.test(name)) return name;
  const learner = name === game.info.version && players.find((player) => player.id === game.info.player);
  return h("a", { href: `/versions/${name}` }, learner ? learner.name : `version ${name.slice(-6)}`);
}

/**
 * The picture is drawn by a worker at the first request, which can fail: then the words of the refusal take its place.
 * An image cannot send the header that the API wants, so it is read as a file, once: `data-keep` leaves it in its place.
 */
function picture(trial, game) {
  const place = h("div", { key: "picture", "data-keep": game.id });
  place.draw = (shown) => {
    if (shown.dataset.drawn) return;
    shown.dataset.drawn = "true";
    readPicture(`${file(trial, game)}/picture`).then(
      (source) => shown.replaceChildren(h("img", { src: source, alt: `The recorded session ${game.session}` })),
      (error) => shown.replaceChildren(h("pre", { class: "trace" }, error.message)),
    );
  };
  return place;
}

async function readPicture(url) {
  const answer = await fetch(url, { headers: credentials() });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail ?? "The picture could not be drawn.");
  }
  const reader = new FileReader();
  const read = new Promise((resolve) => reader.addEventListener("load", resolve));
  reader.readAsDataURL(await answer.blob());
  await read;
  return reader.result;
}

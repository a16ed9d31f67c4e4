// Play a game against a version.
import { get, getAll, post } from "../core/api.js";
import { actionName, areasOf, board, stepFocus } from "../components/board.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { counted, gameName, versionName, humanize, signed } from "../core/format.js";
import { choices, isByNumbers, numberForm } from "../components/move_form.js";
import { startText } from "../components/people_games.js";
import { card, pick, versionLink } from "../components/widgets.js";
import { teamOf, teamReturns } from "../core/teams.js";

const SEARCHES = [
  ["", "not at all: the network alone"],
  ["64", "64 simulations a move"],
  ["200", "200 simulations a move"],
];
const PATIENCE_MS = 300; // faster answers show no "Thinking"
export const title = ({ version }) => `Play against ${versionName(version.player, version.number)}`;
export const onEvent = () => false;

export async function load({ parameters, query, state }) {
  const before = state.game;
  const missing = query.game && before?.id !== query.game; // checked before loading: a game started meanwhile is newer
  const version = await get(`/versions/${parameters.version}`);
  const root = `/trials/${version.trial_id}`;
  const [trial, players] = await Promise.all([get(root), getAll(`${root}/players`)]);
  if (missing) {
    const found = await findGame(query.game);
    if (state.game === before) state.game = found;
  }
  return { version, trial, players };
}

/** A started game, or null if it has expired: games are kept for a day after the last move. */
async function findGame(id) {
  try {
    return await get(`/play/${id}`);
  } catch (problem) {
    if (problem.status !== 404) throw problem;
    return null;
  }
}

export function enter(context) {
  context.keys = (event) => {
    const { state } = context;
    if (!state.game || !areasOf(state.game.position).size) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    const legal = state.game.position.legal[0] ?? [];
    const action = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (legal.some((each) => each.action === action)) move(action, context);
    else if (!stepFocus(event.key)) return;
    event.preventDefault();
  };
  document.addEventListener("keydown", context.keys);
}

export const leave = (context) => document.removeEventListener("keydown", context.keys);

export function view({ version, trial, players }, context) {
  const { game } = context.state;
  return [
    h(
      "div",
      { key: "h" },
      h(
        "p",
        { class: "crumbs" },
        h("a", { href: "/trials" }, "Trials"),
        " / ",
        h("a", { href: `/trials/${trial.id}` }, trial.name),
        " / ",
        humanize(gameName(trial.game)),
      ),
      h("h1", {}, "You against ", versionLink(version.id, versionName(version.player, version.number))),
    ),
    h(
      "div",
      { class: "filters", key: "filters" },
      opponent(version, players, context),
      pick("Your seat", "seat", seatChoices(game), context.query.seat ?? "0", (value) => context.setQuery({ seat: value })),
      pick(
        "Moves are",
        "moves",
        [
          ["", "its best, where nothing is hidden"],
          ["best", "the most probable"],
          ["sampled", "sampled from the policy"],
        ],
        context.query.best ?? "",
        (value) => context.setQuery({ best: value }),
      ),
      version.sha256
        ? pick("It searches", "search", SEARCHES, context.query.search ?? "", (value) => context.setQuery({ search: value }))
        : null,
      h("button", { onclick: () => startGame(version, context) }, game ? "New game" : "Start"),
    ),
    startOf(context.query) ? startNote(context) : null,
    game
      ? h("div", { class: "beside", key: "game" }, table(game, context), sidePanel(game, version, context))
      : h(
          "section",
          { class: "empty", key: "none" },
          h("h2", {}, "Ready to play"),
          h("p", {}, "Choose your seat, then press Start. A finished game is kept as a replay; it counts in no rating and no payoff."),
        ),
  ];
}

/** The recorded position to start from, which the address names. */
function startOf({ match_id: match, game_id: game, moves }) {
  if (!match && !game) return null;
  return { ...(match ? { match_id: Number(match) } : { game_id: game }), moves: Number(moves ?? 0) };
}

const startNote = (context) =>
  h(
    "p",
    { class: "quiet", key: "start" },
    "Games start from ",
    startText(startOf(context.query)),
    ". ",
    h(
      "button",
      { class: "plain", onclick: () => context.setQuery({ match_id: "", game_id: "", moves: "" }) },
      "Start from the beginning instead",
    ),
  );

function opponent(version, players, context) {
  const present = players.filter((player) => player.version_id);
  const options = present.map((player) => [player.version_id, versionName(player.name, player.version_number)]);
  if (!options.some(([id]) => id === version.id)) options.unshift([version.id, versionName(version.player, version.number)]);
  return pick("Opponent", "opponent", options, version.id, (id) => {
    const { match_id, game_id, moves } = context.query; // another opponent plays on from the same position
    const kept = new URLSearchParams(Object.entries({ match_id, game_id, moves }).filter(([, value]) => value));
    context.go(`/play/${id}${kept.size ? `?${kept}` : ""}`);
  });
}

function table(game, context) {
  const areas = areasOf(game.position);
  const { done } = game.position;
  const act = done ? undefined : (action) => move(action, context);
  return h(
    "section",
    { class: "card", "aria-label": "Board" },
    board(game.position, { areas, moves: game.moves, act, disabled: context.state.waiting }),
    h("p", { role: "status", class: "say", "data-outcome": done ? Math.sign(earned(game)) : null }, statusText(game, context)),
    done ? null : hint(areas),
  );
}

function hint(areas) {
  if (!areas.size) return null;
  const [{ noun }] = areas.values();
  return h("p", { class: "quiet center" }, `Click a ${noun}, press 1 to ${Math.min(9, areas.size)}, or use the arrow keys and Enter.`);
}

function sidePanel(game, version, context) {
  const areas = areasOf(game.position);
  const { done } = game.position;
  const it = versionName(version.player, version.number);
  return h(
    "div",
    {},
    done
      ? card(
          "The game is over",
          h("p", {}, `${statusText(game, context)} ${counted(game.position.ply, "move")}.`),
          h(
            "div",
            { class: "row" },
            h("button", { onclick: () => startGame(version, context) }, "Play again"),
            h("a", { class: "button plain", href: `/people-games/${game.id}` }, "Watch the replay"),
          ),
        )
      : isCovered(game, areas)
        ? null
        : card("Your moves", moveForm(game, context)),
    card(
      "Sides",
      game.position.returns.map((_, seat) =>
        h(
          "p",
          { class: "side", key: seat },
          h("span", { class: "seat", "data-seat": teamOf(game.position, seat) }),
          h("strong", {}, seat === game.seat ? "You" : it),
          ` ${sideText(game, seat)}`,
        ),
      ),
      h("p", { class: "quiet" }, playsBy(game, it)),
      game.moves.length && !isByNumbers(game)
        ? h("p", { class: "quiet" }, "Moves: ", game.moves.map((action) => actionName(areas, action, nameOf(game, action))).join(" "))
        : null,
    ),
  );
}

/** Whether every legal move can be clicked on the board; a pass, for example, has no square. */
const isCovered = ({ position }, areas) => areas.size > 0 && (position.legal[0] ?? []).every(({ action }) => areas.has(action));

/** How the opponent chooses its moves. */
function playsBy(game, it) {
  if (game.search) return `${it} searches with ${game.search} simulations a move.`;
  return game.sampled ? `${it} draws its moves from its policy.` : `${it} plays its most probable move.`;
}

const moveForm = (game, context) =>
  isByNumbers(game)
    ? numberForm(game, context.state.waiting, (numbers) => moveBy(numbers, context))
    : choices(game, context.state.waiting, (action) => move(action, context));

/** What the person's team has earned. */
const earned = (game) => teamReturns(game.position)[teamOf(game.position, game.seat)];

/** Seats by the order of moves, or by number once a game has shown that there are more than two or that all choose at once. */
function seatChoices(game) {
  if ((game?.position.returns.length ?? 2) <= 2 && !game?.position.simultaneous)
    return [
      ["0", "first"],
      ["1", "second"],
    ];
  return game.position.returns.map((_, seat) => [String(seat), `in seat ${seat}`]);
}

function sideText(game, seat) {
  if (game.position.simultaneous && game.position.returns.length <= 2)
    return `${seat === game.seat ? "choose" : "chooses"} at the same time`;
  if (game.position.returns.length <= 2) return `${seat === game.seat ? "move" : "moves"} ${["first", "second"][seat]}`;
  const mate = seat !== game.seat && teamOf(game.position, seat) === teamOf(game.position, game.seat);
  return `in seat ${seat}${mate ? ", your mate" : ""}`;
}

/** What the game calls an action, as far as the position tells. */
const nameOf = (game, action) => game.position.legal.flat().find((each) => each.action === action)?.name ?? action;

function statusText(game, { state }) {
  if (state.slow) return "Thinking …";
  if (game.position.done && teamReturns(game.position).length < 2) return `Your team earned ${signed(earned(game), 0)}.`;
  if (game.position.done) return earned(game) > 0 ? "You won." : earned(game) < 0 ? "You lost." : "A draw.";
  return "Your move.";
}

async function startGame(version, context) {
  const { query } = context;
  const asked = { version_id: version.id, seat: Number(query.seat ?? 0) };
  if (query.best) asked.sampled = query.best === "sampled";
  if (startOf(query)) asked.start = startOf(query);
  if (query.search) asked.search = Number(query.search);
  if (await request(context, () => post("/play", asked))) {
    await context.setQuery({ game: context.state.game.id });
    document.querySelector(".squares button")?.focus({ preventScroll: true }); // arrow keys act on the board
  }
}

const move = (action, context) => request(context, () => post(`/play/${context.state.game.id}/moves`, { action }));
const moveBy = (numbers, context) => request(context, () => post(`/play/${context.state.game.id}/moves`, { numbers }));

async function request(context, call) {
  const { state } = context;
  if (state.waiting) return false;
  state.waiting = true;
  context.redraw(); // disables the board
  const patience = setTimeout(() => {
    state.slow = true;
    context.redraw();
  }, PATIENCE_MS);
  try {
    state.game = await call();
    return true;
  } catch (problem) {
    toast(problem.message, "bad");
    return false;
  } finally {
    clearTimeout(patience);
    state.waiting = state.slow = false;
    context.redraw();
  }
}

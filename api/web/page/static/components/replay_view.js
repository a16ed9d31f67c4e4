// A replay on display: board, controls, policies, moves. The pages of matches and of people's games show the same.
import { post } from "../core/api.js";
import { actionName, areasOf, board, policyShares } from "./board.js";
import { toast } from "./dialog.js";
import { h } from "../core/dom.js";
import { percent, signed } from "../core/format.js";
import { seatsByTeam, teamOf, teamReturns } from "../core/teams.js";
import { controls, goTo, plyOf, secondsPerMove, stopPlaying } from "./replay_controls.js";
import { exportButtons } from "./replay_export.js";
import { valueChart } from "./value_chart.js";
import { card, facts, pick, shares, term } from "./widgets.js";

const SEARCHES = [
  ["", "none: the network alone"],
  ["64", "64 simulations"],
  ["200", "200 simulations"],
];
const NEAR = 150; // moves of the list before and after the one on display
const known = (value) => value !== null && value !== undefined;

/**
 * `game` has `positions`; `sides`, of each team `{ name, link, version }`, where a person has no version; `opening`, the
 * number of its moves that were drawn at random; `annotators`, as options; `facts`; `file`, the name of saved files;
 * `start`, which names the game to the API; `problem`; `isLoading` while later positions have not arrived.
 */
export function replayView(game, context) {
  const { positions, sides } = game;
  const ply = plyOf(context, positions.length - 1);
  const areas = areasOf(positions[ply]);
  followMoves(ply, context);
  return h(
    "div",
    { class: "beside", key: "game" },
    h(
      "section",
      { class: "card", "aria-label": "Board" },
      shownBoard(positions, ply, areas),
      h("p", { class: "say" }, captionOf(game, ply, areas)),
      controls(ply, positions.length - 1, context),
      h(
        "div",
        { class: "row center", key: "actions" },
        playFromHere(game, ply, context),
        exportButtons(
          { ...game, captions: positions.map((_, place) => captionOf(game, place, areas)) },
          ply,
          secondsPerMove(context),
          context,
        ),
      ),
      valueChart(
        positions,
        ply,
        sides.map((side) => side.name),
        (to) => goTo(to, context),
      ),
    ),
    h(
      "div",
      {},
      policyCard(game, ply, areas, context),
      card("Moves", moveList(game, ply, areas, context)),
      card("Players", facts([...sides.map((side, team) => [sideName(positions[0], team), side.link]), ...game.facts])),
    ),
  );
}

/** Who won, or null before the end; where all play in one team, what it earned. */
export function outcomeOf({ positions, sides }) {
  const last = positions.at(-1);
  if (!last.done) return null;
  const returns = teamReturns(last);
  if (returns.length < 2) return `${sides[0].name} earned ${signed(returns[0], 0)}`;
  const most = Math.max(...returns);
  const winners = sides.filter((_, team) => returns[team] === most);
  return winners.length === 1 ? `${winners[0].name} won` : "A draw";
}

function captionOf(game, ply, areas) {
  const { positions, sides, opening } = game;
  if (ply === positions.length - 1 && !game.isLoading) return outcomeOf(game) ?? "Not finished";
  if (!ply) return sides.map((side) => side.name).join(" against ");
  const { actions, names, seats } = positions[ply - 1];
  const moves = seats.map((seat, at) => {
    const who = sides[teamOf(positions[0], seat)]?.name ?? `seat ${seat}`;
    return `${who}: ${actionName(areas, actions[at], names[at])}`;
  });
  return `Move ${ply}${ply <= opening ? " (random opening)" : ""}, ${moves.join("; ")}`;
}

/** "First" and "Second" where two seats take turns, else the seats of the team, by their numbers in the picture. */
function sideName(position, team) {
  const seats = seatsByTeam(position)[team];
  if (position.returns.length <= 2 && !position.simultaneous) return ["First", "Second"][team];
  return `${seats.length > 1 ? "Seats" : "Seat"} ${seats.join(", ")}`;
}

function shownBoard(positions, ply, areas) {
  const position = positions[ply];
  const policy = (position.legal[0] ?? []).filter((each) => each.probability !== null).map((each) => [each.action, each.probability]);
  return board(position, {
    areas,
    moves: position.done ? [] : positions.slice(0, ply).flatMap((each) => each.actions),
    policy: policy.length ? new Map(policy) : null,
  });
}

/** Start a person's game in this position: the person takes the seat to move. */
function playFromHere({ positions, sides, start }, ply, context) {
  const position = positions[ply];
  const begin = async () => {
    stopPlaying(context);
    const [seat] = position.seats;
    const other = sides.find((side, team) => side.version && team !== teamOf(position, seat)) ?? sides.find((side) => side.version);
    const moves = positions.slice(0, ply).reduce((sum, each) => sum + each.actions.length, 0);
    const from = { ...start, moves };
    try {
      const game = await post("/play", { version_id: other.version, seat, start: from });
      const query = new URLSearchParams({ ...from, seat, game: game.id });
      await context.go(`/play/${other.version}?${query}`);
    } catch (problem) {
      toast(problem.message, "bad");
    }
  };
  return h("button", { class: "plain", key: "from", disabled: position.done || !position.seats.length, onclick: begin }, "Play from here");
}

function policyCard(game, ply, areas, context) {
  const position = game.positions[ply];
  const asked = context.query.annotate !== "nobody";
  const { annotators } = game;
  return h(
    "section",
    { class: "card", "aria-label": "Policy and value" },
    h("h2", {}, term("Policy and value")),
    h(
      "div",
      { class: "filters" },
      pick("Annotated by", "annotate", annotators, context.query.annotate ?? "", (value) => context.setQuery({ annotate: value })),
      asked && game.searches
        ? pick("Search", "search", SEARCHES, context.query.search ?? "", (value) => context.setQuery({ search: value }))
        : null,
    ),
    game.problem ? h("p", { class: "bad", role: "alert" }, game.problem) : null,
    position.done ? ending(game) : opinions(game, ply, areas, asked),
  );
}

function ending(game) {
  const returns = teamReturns(game.positions.at(-1)).map((value) => (value ? signed(value, 0) : "0"));
  return h("p", {}, h("strong", {}, `The game is over: ${outcomeOf(game)}`), ` (${returns.join(" : ")}).`);
}

/** What is thought of each legal move; where several seats choose at once, by each of them. */
function opinions(game, ply, areas, asked) {
  const position = game.positions[ply];
  const { sides } = game;
  const movers = [...new Set(position.seats.map((seat) => sides[teamOf(position, seat)]?.name ?? `seat ${seat}`))];
  const several = position.seats.length > 1;
  const title = (words, seat) => (several ? `${words} of seat ${seat}` : words);
  const lists = position.seats.flatMap((seat, at) => {
    const [policy, found] = ["probability", "searched"].map((by) => policyShares(position, areas, by, at));
    return [
      several && policy.length ? h("h3", {}, title("Policy", seat)) : null,
      policy.length ? shares(policy, title("Policy", seat)) : null,
      found.length ? [h("h3", {}, "What the search makes of it"), shares(found, title("Policy by search", seat))] : null,
    ];
  });
  const shown = lists.some(Boolean);
  return [
    h(
      "p",
      {},
      several ? "Choose at once: " : "To move: ",
      h("strong", {}, movers.join(", ")),
      position.value === null ? "" : [", value ", h("strong", { class: "value" }, signed(position.value, 2))],
      known(position.searched_value) ? [", by search ", h("strong", { class: "value" }, signed(position.searched_value, 2))] : "",
    ),
    ply < game.opening ? h("p", { class: "quiet" }, "A random opening move: nobody chose it.") : null,
    shown ? lists : asked && !game.problem ? h("p", { class: "quiet" }, "A bot has no policy to show.") : null,
  ];
}

function moveList({ positions, opening, isLoading }, ply, areas, context) {
  const [from, to] = [Math.max(0, ply - NEAR), Math.min(positions.length - 1, ply + NEAR)];
  return h(
    "ol",
    { class: "moves", tabindex: 0, "aria-label": "Every move, its probability and the value before it" },
    from ? h("li", { key: "before", class: "quiet" }, `${from} earlier moves`) : null,
    positions.slice(from, to).map((each, offset) => {
      const place = from + offset;
      const chosen = (each.legal[0] ?? []).find((legal) => legal.action === each.actions[0]);
      const random = place < opening;
      const probability = known(chosen?.probability) ? percent(chosen.probability) : "";
      const go = () => {
        stopPlaying(context);
        goTo(place + 1, context);
      };
      return h(
        "li",
        { key: place },
        h(
          "button",
          { class: "move", "aria-current": place + 1 === ply ? "step" : null, onclick: go },
          h("span", { class: "number" }, `${place + 1}.`),
          h("span", { class: "seat", "data-seat": each.seats.length > 1 ? "all" : teamOf(each, each.seats[0]) }),
          h("b", {}, each.actions.map((action, at) => actionName(areas, action, each.names[at])).join(", ") || "–"),
          h("span", { class: "number quiet", title: random ? "drawn at random: nobody chose it" : null }, random ? "random" : probability),
          h("span", { class: "number" }, random || each.value === null ? "" : signed(each.value, 2)),
        ),
      );
    }),
    to < positions.length - 1 || isLoading
      ? h("li", { key: "after", class: "quiet" }, isLoading ? "Later moves are loading …" : `${positions.length - 1 - to} later moves`)
      : null,
  );
}

/** Scroll the list, and not the page, to the move on display. */
function followMoves(ply, { state }) {
  if (state.followed === ply) return;
  state.followed = ply;
  requestAnimationFrame(() => {
    const list = document.querySelector(".moves");
    const now = list?.querySelector("[aria-current]")?.parentElement;
    if (list) list.scrollTop = now ? now.offsetTop - (list.clientHeight - now.clientHeight) / 2 : 0;
  });
}

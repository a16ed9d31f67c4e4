// The lineage of versions over steps or time: snapshots, resets, copies, forks, promotions.
import { get, getAll } from "../core/api.js";
import { seriesColours } from "../charts/colours.js";
import { h } from "../core/dom.js";
import { bytes, short, versionName, humanize, whole } from "../core/format.js";
import { part } from "../core/parts.js";
import { lineageMap } from "../charts/lineage_map.js";
import { legend, MARKS } from "../charts/version_marks.js";
import { card, empty, pick, problemWith, table, time, versionLink } from "../components/widgets.js";
import { trialFrame } from "../components/trial_frame.js";

const MOST = 5000; // versions that are drawn, the newest
const FEW = 100; // rows of the table until "Show all"
const FEW_STRAYS = 12;
export const title = ({ trial }) => `Lineage of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;

export async function load({ parameters }) {
  const root = `/trials/${parameters.trial}`;
  const trial = await get(root);
  const [players, versions, moves] = await Promise.all([
    getAll(`${root}/players`),
    getAll(`${root}/versions`, {}, { maximum: MOST }),
    part(readMoves(trial)),
  ]);
  return { trial, players, versions, moves };
}

/** The aliases of the trial's game with their histories. */
async function readMoves(trial) {
  const aliases = await getAll(`/projects/${encodeURIComponent(trial.project)}/aliases`);
  return Promise.all(
    aliases
      .filter((alias) => alias.game === trial.game)
      .map(async (alias) => ({
        alias,
        moves: await getAll(
          `/projects/${encodeURIComponent(trial.project)}/aliases/${alias.name}/history`,
          { game: alias.game },
          { maximum: 500 },
        ),
      })),
  );
}

export function view(data, context) {
  const { trial, versions } = data;
  if (!versions.length) return trialFrame(trial, context, empty("No versions yet", "The first versions appear when the trial starts."));
  const marked = versions.filter((version) => version.origin !== "trained");
  const shown = context.state.all ? marked : marked.slice(0, FEW);
  const promoted = new Set(data.moves.flatMap((each) => each.moves.map((move) => move.to_version_id)));
  const signs = Object.keys(MARKS).filter((origin) => versions.some((version) => version.origin === origin));
  const names = new Map(versions.map((version) => [version.id, versionName(version.player, version.number)]));
  const by = context.query.by ?? "steps";
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "filters", key: "filters" },
      pick(
        "X axis",
        "by",
        [
          ["steps", "steps"],
          ["time", "time"],
        ],
        by,
        (value) => context.setQuery({ by: value === "steps" ? "" : value }),
      ),
      problemWith("Promotions", data.moves),
    ),
    h(
      "section",
      { class: "card", key: "tree", "aria-label": "Lineage" },
      legend([...signs, ...(versions.some((version) => promoted.has(version.id)) ? ["promoted"] : [])], seriesColours()),
      h("div", { class: "tall" }, tree(data, promoted, by, context)),
      h(
        "p",
        { class: "quiet" },
        "One lane per player, its snapshots above it. Click a version to open it, drag to zoom in.",
        versions.length < MOST ? "" : ` The newest ${whole(MOST)} versions are drawn; there are older ones.`,
      ),
    ),
    h(
      "div",
      { key: "table" },
      card(
        "Snapshots, resets, copies and forks",
        !shown.length && h("p", { class: "quiet" }, "None among the versions that are drawn."),
        shown.length > 0 &&
          table(
            "Snapshots, resets, copies and forks",
            [
              ["Version", (version) => versionLink(version.id, versionName(version.player, version.number))],
              ["Origin", (version) => humanize(version.origin)],
              ["Steps", (version) => short(version.steps), "number"],
              ["Commit", (version) => version.commit, "number"],
              [
                "Parent",
                (version) => (version.parent_id ? versionLink(version.parent_id, names.get(version.parent_id) ?? elsewhere(version)) : "–"),
              ],
              ["Size", (version) => bytes(version.size), "number"],
              ["When", (version) => time(version.created_at)],
            ],
            shown,
            (version) => version.id,
          ),
        shown.length < marked.length &&
          h(
            "button",
            {
              class: "plain",
              onclick: () => {
                context.state.all = true;
                context.redraw();
              },
            },
            `Show all ${marked.length}`,
          ),
      ),
    ),
  );
}

/** What a parent is that was not read: only forks and imports have one in another trial. */
const elsewhere = ({ origin }) => (["fork", "imported"].includes(origin) ? "in another trial" : "an older version");

function tree({ players, versions, moves }, promoted, by, context) {
  const lanes = lanesOf(players);
  const places = new Map(versions.map((version, place) => [version.id, place]));
  const raised = new Set(players.filter((player) => player.role === "historical").map((player) => player.id));
  return lineageMap("lineage", `Lineage of ${versions.length} versions of ${players.length} players`, {
    isTime: by === "time",
    of: [versions[0].id, players.length, moves.flatMap((each) => each.moves).length, by],
    lanes: lanes.names,
    nodes: versions.map((version) => ({
      id: version.id,
      x: by === "time" ? Date.parse(version.created_at) : version.steps,
      lane: lanes.of.get(version.player_id),
      raised: raised.has(version.player_id),
      mark: version.origin,
      ring: promoted.has(version.id),
      note: [
        humanize(version.origin),
        versionName(version.player, version.number),
        `${short(version.steps)} steps${promoted.has(version.id) ? ", has been champion" : ""}`,
      ],
    })),
    links: versions.flatMap((version, place) => (places.has(version.parent_id) ? [[places.get(version.parent_id), place]] : [])),
    pick: (id) => context.go(`/versions/${id}`),
  });
}

/** A lane per player. Snapshots are in the lane of their player; if many have no known player, they share one lane. */
function lanesOf(players) {
  const known = new Map(players.map((player) => [player.id, player]));
  const owner = (player) => (player.role === "historical" && known.has(player.parent_id) ? owner(known.get(player.parent_id)) : player);
  const strays = players.filter((player) => player.role === "historical" && !known.has(player.parent_id));
  const together = new Set(strays.length > FEW_STRAYS ? strays.map((player) => player.id) : []);
  const names = [];
  const of = new Map();
  for (const player of players) {
    const { id, name } = owner(player);
    const lane = together.has(id) ? "strays" : id;
    if (!of.has(lane)) of.set(lane, names.push(together.has(id) ? "snapshots from elsewhere" : name) - 1);
    of.set(player.id, of.get(lane));
  }
  return { names, of };
}

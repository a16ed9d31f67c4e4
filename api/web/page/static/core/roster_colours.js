// Which colour and dash a player has: the same on every page of its trial, whichever players are drawn. Pure functions.
const COLOURS = 6;
const DASHES = ["solid", "dash", "dot"]; // six colours are not enough for ten lines
const LOOKS = COLOURS * DASHES.length;

const isOwn = ({ parent_id: parent }) => !parent;
const byRoster = (one, other) => one.created_commit - other.created_commit || (one.name < other.name ? -1 : 1);

/** The place of each player in the trial's roster, by id: a snapshot has that of its player, so that later ones change none. */
export function rosterPlaces(players) {
  const places = new Map(
    players
      .filter(isOwn)
      .sort(byRoster)
      .map(({ id }, place) => [id, place]),
  );
  for (const { id, parent_id: parent } of players) if (places.has(parent)) places.set(id, places.get(parent));
  return places;
}

/** For each id {colour, dash}, a number and a name: those of its place, or where another line has these the next that are free. */
export function looksOf(ids, places = new Map()) {
  const taken = new Set();
  return ids.map((id, order) => {
    let look = (places.get(id) ?? order) % LOOKS;
    while (taken.has(look) && taken.size < LOOKS) look = (look + 1) % LOOKS;
    taken.add(look);
    return { colour: look % COLOURS, dash: DASHES[Math.floor(look / COLOURS)] };
  });
}

// Versions of other trials: their players' names repeat from trial to trial, so that each is named with its trial.
import { get } from "./api.js";
import { versionName } from "./format.js";
import { LruCache } from "./lru_cache.js";

const MOST = 50; // that are asked for at once
const KEPT = 300;
const KEPT_MS = 60_000; // a trial may be renamed
const versions = new LruCache(KEPT);
const trials = new LruCache(KEPT);

/** The name of a trial; null where it may not be read. */
export async function trialName(id) {
  const known = trials.get(id);
  if (known && Date.now() - known.at < KEPT_MS) return known.name;
  const name = await get(`/trials/${id}`).then(
    (trial) => trial.name,
    () => null,
  );
  trials.set(id, { at: Date.now(), name });
  return name;
}

/** A version with the name of its trial: `{ id, name, trial_id, trial }`; null where it may not be read. */
async function readVersion(id) {
  const found = versions.get(id) ?? (await get(`/versions/${id}`).catch(() => null));
  if (!found) return null;
  versions.set(id, found);
  const { player, number, trial_id } = found;
  return { id, name: versionName(player, number), trial_id, trial: await trialName(trial_id) };
}

/** These versions by id; those that cannot be read are left out. */
export async function readStrangers(ids) {
  const found = await Promise.all([...new Set(ids)].slice(0, MOST).map(readVersion));
  return new Map(found.filter(Boolean).map((each) => [each.id, each]));
}

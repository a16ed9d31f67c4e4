// Differences between two trial files, as their specs. Pure functions.

const isMapping = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isList = (value) => Array.isArray(value) && value.length > 0 && value.every(isMapping);
export const same = (one, other) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** The value with the keys of its mappings in order, so that equal ones are equal as text. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Every field by its path; items of lists by their name or number. */
function fields(value, path = "", found = new Map()) {
  const below = isMapping(value)
    ? Object.entries(value)
    : isList(value)
      ? value.map((item, number) => [item.name ?? String(number), item])
      : [];
  if (below.length) for (const [name, item] of below) fields(item, path ? `${path}.${name}` : name, found);
  else found.set(path, value);
  return found;
}

/** What differs: [{path, before, after}]; undefined where one of them has no such field. */
export function specDifferences(before, after) {
  const [was, is] = [fields(before), fields(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }))
    .filter((each) => !same(each.before, each.after));
}

/** The changes of a fork: the smallest mapping that, laid over the first spec, gives the second. */
export function changesBetween(before, after) {
  const changes = {};
  for (const [key, value] of Object.entries(after)) {
    if (same(before[key], value)) continue;
    const inner = isMapping(value) && isMapping(before[key]) && before[key].id === value.id;
    changes[key] = inner ? changesBetween(before[key], value) : value;
  }
  return changes;
}

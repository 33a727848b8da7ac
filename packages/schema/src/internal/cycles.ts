/** Whether the Step with the name `start` uses itself, directly or through other Steps. */
const reachesItself = (start: string, usedBy: (name: string) => ReadonlyArray<string>): boolean => {
  const seen = new Set<string>()
  const next = [...usedBy(start)]
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (name === start) return true
    if (seen.has(name)) continue
    seen.add(name)
    next.push(...usedBy(name))
  }
  return false
}

/**
 * The names of the Steps that use themselves, directly or through other Steps. A Step without an entry in `uses` uses
 * no Step. The search does not recurse, because Steps may form a long chain.
 */
export const cyclic = (uses: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const left = new Map(uses)
  for (const name of uses.keys()) {
    // A Step in no circle leads to none through itself, so later searches leave it out.
    if (!reachesItself(name, (one) => left.get(one) ?? [])) left.delete(name)
  }
  return [...left.keys()]
}

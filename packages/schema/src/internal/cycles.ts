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
  const users = new Map<string, Array<string>>()
  const counts = new Map<string, number>()
  for (const [name, used] of uses) {
    const known = used.filter((one) => uses.has(one))
    counts.set(name, known.length)
    for (const one of known) {
      const others = users.get(one)
      if (others === undefined) users.set(one, [name])
      else others.push(name)
    }
  }
  // A Step that uses no Step in `left` is not part of a cycle, so its name is removed from `left`.
  const free = [...uses.keys()].filter((name) => counts.get(name) === 0)
  const left = new Set(uses.keys())
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    left.delete(name)
    for (const user of users.get(name) ?? []) {
      const count = (counts.get(user) ?? 0) - 1
      counts.set(user, count)
      if (count === 0) free.push(user)
    }
  }
  const usedBy = (name: string) => (uses.get(name) ?? []).filter((one) => left.has(one))
  return [...left].filter((name) => reachesItself(name, usedBy))
}

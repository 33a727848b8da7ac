/** Pseudo-random choices, which depend only on a seed. */
export interface SeededRandom {
  /** Returns an integer that is at least 0 and less than `below`. */
  readonly int: (below: number) => number
  readonly one: <A>(of: ReadonlyArray<A>) => A
  /** Returns true once in `inTimes` calls on average. */
  readonly once: (inTimes: number) => boolean
}

/** Mulberry32, seeded with FNV-1a of a text. */
export const make = (seed: string): SeededRandom => {
  let state = 0x811c9dc5
  for (let index = 0; index < seed.length; index++) state = Math.imul(state ^ seed.charCodeAt(index), 0x01000193)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const int = (below: number) => Math.floor(next() * below)
  const one = <A>(of: ReadonlyArray<A>): A => {
    const found = of[int(of.length)]
    if (found === undefined) throw new Error("nothing to choose from")
    return found
  }
  return { int, one, once: (inTimes) => int(inTimes) === 0 }
}

/** FNV-1a of a text. */
const hash = (text: string): number =>
  Array.from(text).reduce((state, character) => Math.imul(state ^ character.charCodeAt(0), 0x01000193), 0x811c9dc5)

/** Reproducible random numbers from a seed: mulberry32, which is small and uniform enough for mutations. */
export class Draw {
  #state: number
  constructor(seed: number | string) {
    this.#state = (typeof seed === "string" ? hash(seed) : seed) >>> 0
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer below a bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of several values. */
  of<A>(choices: ReadonlyArray<A>): A {
    if (choices.length === 0) throw new Error("nothing to choose from")
    // The index is always in range.
    return choices[this.below(choices.length)] as A
  }
}

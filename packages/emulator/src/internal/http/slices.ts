import * as Effect from "effect/Effect"
import type * as Turns from "./turns.ts"

/** How many files are looked at in one turn. Each of them takes about 40 microseconds of processor time. */
const size = 200

/** Maps a list of any length, slice by slice, each in a turn: others are answered between two of them. */
export const mapEffect = Effect.fnUntraced(function* <A, B, E, R>(
  turns: Turns.Turns["Service"],
  items: ReadonlyArray<A>,
  convert: (slice: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
) {
  const converted: Array<B> = []
  for (let start = 0; start < items.length; start += size) {
    converted.push(...(yield* turns.share(convert(items.slice(start, start + size)))))
  }
  return converted
})

/** The same where each is converted for itself. */
export const map = <A, B>(turns: Turns.Turns["Service"], items: ReadonlyArray<A>, convert: (item: A) => B) =>
  mapEffect(turns, items, (slice) => Effect.sync(() => slice.map((item) => convert(item))))

/** The same for the lists of a record. */
export const mapRecord = Effect.fnUntraced(function* <A, B>(
  turns: Turns.Turns["Service"],
  lists: Readonly<Record<string, ReadonlyArray<A>>>,
  convert: (item: A) => B
) {
  const flat = Object.entries(lists).flatMap(([name, items]) => items.map((item) => [name, item] as const))
  const converted = yield* map(turns, flat, ([name, item]) => [name, convert(item)] as const)
  const made = new Map<string, Array<B>>(Object.keys(lists).map((name) => [name, []]))
  for (const [name, item] of converted) made.get(name)?.push(item)
  return Object.fromEntries<ReadonlyArray<B>>(made)
})

import * as Effect from "effect/Effect"
import type * as Turns from "./turns.ts"

/** The number of items in one slice. An item such as a file takes about 40 microseconds of processor time. */
const size = 200

/** Maps a list in slices. Each slice is one piece of work for `Turns`, so that other requests can run in between. */
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

/** Like {@link mapEffect}, with a pure function that converts one item. */
export const map = <A, B>(turns: Turns.Turns["Service"], items: ReadonlyArray<A>, convert: (item: A) => B) =>
  mapEffect(turns, items, (slice) => Effect.sync(() => slice.map((item) => convert(item))))

/** Like {@link map}, for a record of lists. */
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

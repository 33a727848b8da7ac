import * as Effect from "effect/Effect"
import type { Store } from "./journal.ts"

/** A store of texts in memory. */
export const memory = (): Store => {
  const textsIn = (texts: Map<string, string>) => ({
    get: (key: string) => Effect.sync(() => texts.get(key)),
    remove: (key: string) => Effect.sync(() => void texts.delete(key)),
    keys: Effect.sync(() => [...texts.keys()])
  })
  const entries = new Map<string, string>()
  const leases = new Map<string, string>()
  return {
    ...textsIn(entries),
    set: (key, text) => Effect.sync(() => void entries.set(key, text)),
    leases: {
      ...textsIn(leases),
      swap: (key, expected, text) =>
        Effect.sync(() => {
          if (leases.get(key) !== expected) return false
          leases.set(key, text)
          return true
        })
    }
  }
}

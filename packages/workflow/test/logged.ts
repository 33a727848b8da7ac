/** Secrets of deployments, and what a program logs. */
import { Effect, Logger, Redacted } from "effect"

const secretOf = (letter: string) => Redacted.make(letter.repeat(32))
export const [old, young, other] = [secretOf("o"), secretOf("y"), secretOf("x")]

/** What a program logs at the level of a warning or above. */
export const warnings = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn" || logLevel === "Error" || logLevel === "Fatal") said.push(String(message))
    })
    return Effect.as(Effect.provide(program, Logger.layer([logger]), { local: true }), said)
  })

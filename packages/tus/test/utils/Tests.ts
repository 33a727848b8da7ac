/** What the tests of this package share. */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { Effect } from "effect"
import { format } from "node:util"

type Body<R> = () => Effect.Effect<unknown, unknown, R> | Generator<Effect.Effect<unknown, unknown, R>, unknown, never>

/** Registers tests whose effects are changed by `wrap`, which provides what they need. */
export const within = <R, R2>(
  test: (title: string, body: () => Effect.Effect<unknown, unknown, R2>) => void,
  wrap: <A, E>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, unknown, R2>
) => {
  const register = (title: string, body: Body<R>): void =>
    test(title, () =>
      wrap(
        Effect.suspend(() => {
          const made = body()
          return Effect.isEffect(made) ? made : Effect.gen(() => made)
        })
      )
    )
  /** One for each of the rows, which fill the title. */
  const each =
    <T extends ReadonlyArray<unknown>>(rows: ReadonlyArray<T>) =>
    (title: string, body: (row: T) => ReturnType<Body<R>>): void =>
      rows.forEach((row) => register(format(title, ...row.slice(0, title.split("%").length - 1)), () => body(row)))
  return Object.assign(register, { each })
}

/** This field of each item. */
export const pluck = <T, K extends keyof T>(items: ReadonlyArray<T> | null | undefined, key: K): ReadonlyArray<T[K]> =>
  (items ?? []).map((item) => item[key])

/** The paths of what broke a rule, as texts. */
export const pathsOf = ({ issues }: InvalidRequest): ReadonlyArray<string> => issues.map(({ path }) => path.join("."))

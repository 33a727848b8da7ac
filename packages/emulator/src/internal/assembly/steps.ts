import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Limits from "../limits.ts"
import type { Robot } from "../robots/robot.ts"
import { StepFailed } from "../robots/robot.ts"

/** A Step of a plan. In a plan, each Step comes after the Steps that it uses. */
export interface Planned {
  readonly name: string
  readonly step: Assembly.Step
  readonly robot: Robot
  /** The Steps whose files this Step works on, or `:original`. If the list is empty, this Step works on the uploads. */
  readonly uses: ReadonlyArray<string>
}

type Steps = Readonly<Record<string, Assembly.Step>>

const fail = (error: string, message: string) => Effect.fail(new StepFailed({ error, message }))

/** The number of names in a `use`, counted before the names are decoded. */
const countOf = (use: Schema.Json | undefined): number => {
  if (Array.isArray(use)) return use.length
  return Predicate.hasProperty(use, "steps") && Array.isArray(use.steps) ? use.steps.length : 1
}

/** The name of the uploads in a `use`, unless a Step has this name. */
export const original = ":original"

/** The names in the `use` of a Step. The list is empty if the Step has no `use`; then the Step works on the uploads. */
const usesOf = Effect.fnUntraced(function* (name: string, step: Assembly.Step, steps: Steps, limits: Limits.Values) {
  const { use } = step
  if (use === undefined) return []
  if (countOf(use) > limits.steps) {
    return yield* fail("ASSEMBLY_STEP_INVALID_USE", `The Step ${name} uses more than ${limits.steps} other Steps.`)
  }
  const references = StepRules.references(step)
  if (!references.every(StepRules.isReference)) {
    return yield* fail("ASSEMBLY_STEP_INVALID_USE", `The Step ${name} has an invalid use.`)
  }
  // A name that occurs twice stays in the list twice, because the Step then works on the files twice.
  const names = references.map((used) => used.name)
  const unknown = names.find((used) => used !== original && !Object.hasOwn(steps, used))
  if (unknown !== undefined) {
    return yield* fail("ASSEMBLY_STEP_UNKNOWN_USE", `The Step ${name} uses ${unknown}, which is not a Step.`)
  }
  return names
})

/** Orders Steps so that each Step comes after the Steps that it uses. */
const inOrder = Effect.fnUntraced(function* (planned: ReadonlyArray<Planned>) {
  const ordered: Array<Planned> = []
  let waiting = planned
  const given = planned.some(({ name }) => name === original) ? [] : [original]
  while (waiting.length > 0) {
    const done = new Set([...given, ...ordered.map(({ name }) => name)])
    const ready = waiting.filter(({ uses }) => uses.every((used) => done.has(used)))
    if (ready.length === 0) {
      return yield* fail(
        "ASSEMBLY_INFINITE",
        `The Steps use each other: ${waiting.map(({ name }) => name).join(", ")}.`
      )
    }
    ordered.push(...ready)
    waiting = waiting.filter((one) => !ready.includes(one))
  }
  return ordered
})

/** Orders the Steps and finds the robot of each Step. Fails if the Steps are invalid. */
export const plan = Effect.fnUntraced(function* (
  steps: Steps,
  robots: ReadonlyMap<string, Robot>,
  limits: Limits.Values
) {
  const planned = yield* Effect.forEach(
    Object.entries(steps),
    Effect.fnUntraced(function* ([name, step]) {
      const robot = robots.get(step.robot)
      if (robot === undefined) {
        return yield* fail("ASSEMBLY_STEP_UNKNOWN_ROBOT", `The Step ${name} names an unknown robot: ${step.robot}.`)
      }
      return { name, step, robot, uses: yield* usesOf(name, step, steps, limits) }
    })
  )
  return yield* inOrder(planned)
})

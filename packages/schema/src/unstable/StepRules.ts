/**
 * The rules for the Steps of an Assembly or a Template, and the Steps that a Step uses.
 */
import * as Predicate from "effect/Predicate"
import type { Issue } from "../InvalidRequest.ts"

/**
 * A name in the `use` of a Step. `path` is the path of the name below the `use`, such as `["steps", 0]`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reference {
  readonly name: string
  readonly path: ReadonlyArray<string | number>
}

const formRule = "Expected the name of a Step, an object with a name, a list of these, or an object with steps"

const one = (value: unknown, path: Reference["path"]): Reference | Issue => {
  if (typeof value === "string") return { name: value, path }
  return Predicate.isObject(value) && typeof value["name"] === "string"
    ? { name: value["name"], path: [...path, "name"] }
    : { path, message: formRule }
}

const many = (value: unknown, path: Reference["path"]): ReadonlyArray<Reference | Issue> =>
  Array.isArray(value) ? value.map((item: unknown, index) => one(item, [...path, index])) : [one(value, path)]

/**
 * Reads the `use` of a Step, in all its forms. The result contains each name, in order and with repetitions, and a
 * `Issue` for each invalid part. The paths in the result start below the `use`. This function does not check
 * whether the named Steps exist.
 *
 * @example
 * StepRules.references({ use: { steps: ["faces", 1] } })
 * // [
 * //   { name: "faces", path: ["steps", 0] },
 * //   {
 * //     path: ["steps", 1],
 * //     rule: "Expected the name of a Step, an object with a name, a list of these, or an object with steps"
 * //   }
 * // ]
 *
 * @since 0.1.0
 * @category utilities
 */
export const references = (step: { readonly [option: string]: unknown }): ReadonlyArray<Reference | Issue> => {
  const { use } = step
  if (use === undefined) return []
  return Predicate.isObject(use) && "steps" in use ? many(use["steps"], ["steps"]) : many(use, [])
}

/**
 * Whether an element of the result of {@link references} is a {@link Reference}, not a `Issue`.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isReference = (found: Reference | Issue): found is Reference => "name" in found

/** The name that stands for the uploads. */
const original = ":original"

/**
 * The names of the Steps that a Step uses, without repetitions. `use` may be a name, a list or an object. Invalid parts
 * of `use` are left out.
 *
 * @example
 * StepRules.used({ robot: "/image/resize", use: { steps: [":original", "faces"] } }) // [":original", "faces"]
 *
 * @since 0.1.0
 * @category utilities
 */
export const used = (step: { readonly [option: string]: unknown }): ReadonlyArray<string> =>
  Array.from(new Set(references(step).flatMap((found) => (isReference(found) ? [found.name] : []))))

const algorithms: ReadonlyArray<unknown> = ["b2", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
const isAlgorithm = (value: unknown) => value === undefined || algorithms.includes(value)

const filled = "at least 1 character"
const isFilled = (value: unknown) => value === undefined || (typeof value === "string" && value !== "")
const isSeconds = (value: unknown) => typeof value === "number" && value >= 0 && value < Infinity

/** The options of the robots that the emulator (`@assembly-effect/emulator`) runs. `holds` gets undefined for an option that is absent. */
const options: ReadonlyArray<
  readonly [robot: string, option: string, expected: string, holds: (value: unknown) => boolean]
> = [
  ["/transloadit/store", "path", filled, isFilled],
  ["/file/hash", "algorithm", `one of ${algorithms.join(", ")}`, isAlgorithm],
  ["/emulator/fail", "error", filled, isFilled],
  ["/emulator/fail", "message", filled, isFilled],
  ["/emulator/wait", "seconds", "a number of at least 0", isSeconds]
]

/**
 * Whether a value contains a variable such as `${fields.name}`. A value with a variable is not checked, because only
 * the service knows the value of the variable.
 */
const hasVariable = (value: unknown): boolean => typeof value === "string" && /\$\{[^{}]+\}/.test(value)

/** The invalid and the missing options of the Step `name`. The options of an unknown robot are not checked. */
const optionProblems = (name: string, step: Readonly<Record<string, unknown>>): ReadonlyArray<Issue> =>
  options.flatMap(([robot, option, expected, holds]) =>
    step["robot"] !== robot || holds(step[option]) || hasVariable(step[option])
      ? []
      : [{ path: [name, option], message: `Expected ${expected}` }]
  )

const robotProblem = (name: string, robot: unknown): string | undefined => {
  if (typeof robot !== "string" || robot === "") return "Expected the robot of the Step, at least 1 character"
  return name === original && robot !== "/upload/handle"
    ? "Expected /upload/handle, because the name :original is reserved for the uploads"
    : undefined
}

type Members = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const stepProblems = (name: string, step: unknown, steps: Members, isWhole: boolean): ReadonlyArray<Issue> => {
  if (!Predicate.isObject(step) || Array.isArray(step)) return [{ path: [name], message: "Expected an object" }]
  const { robot } = step
  const message = robotProblem(name, robot)
  return [
    ...(message === undefined ? [] : [{ path: [name, "robot"], message }]),
    ...references(step).flatMap((found): ReadonlyArray<Issue> => {
      const path = [name, "use", ...found.path]
      if (!isReference(found)) return [{ ...found, path }]
      if (!isWhole || found.name === original || Object.hasOwn(steps, found.name)) return []
      return [{ path, message: "Expected the name of a Step" }]
    }),
    ...optionProblems(name, step)
  ]
}

/**
 * Whether a Step uses itself, directly or through other Steps. A Step without an entry in `uses` uses no Step. The search
 * does not recurse, because Steps may form a long chain.
 */
const usesItself = (start: string, uses: ReadonlyMap<string, ReadonlyArray<string>>): boolean => {
  const seen = new Set<string>()
  const next = [start]
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    for (const other of uses.get(name) ?? []) {
      if (other === start) return true
      if (!seen.has(other)) next.push(other)
      seen.add(other)
    }
  }
  return false
}

/**
 * Returns all problems of `steps`. If `of` is `"whole"`, a `use` may name only Steps in `steps`, and `:original`. If
 * `of` is `"changes"`, `steps` are changes to the Steps of a Template. A `use` may then name any Step, because only the
 * service knows the Steps of the Template.
 *
 * @since 0.1.0
 * @category utilities
 */
export const problems = (steps: unknown, of: "whole" | "changes" = "whole"): ReadonlyArray<Issue> => {
  if (!Predicate.isObject(steps) || Array.isArray(steps)) return [{ path: [], message: "Expected an object of Steps" }]
  const members = steps as Members
  const found = Object.entries(members).flatMap(([name, step]) => stepProblems(name, step, members, of === "whole"))
  const uses = new Map(
    Object.entries(members).map(([name, step]) => [name, Predicate.isObject(step) ? used(step) : []] as const)
  )
  const message = "Expected Steps that do not use this Step, directly or through others"
  const circular = new Map(uses)
  // A Step in no circle leads to none through itself, so later searches leave it out.
  for (const name of uses.keys()) if (!usesItself(name, circular)) circular.delete(name)
  return [...found, ...Array.from(circular.keys(), (name): Issue => ({ path: [name, "use"], message }))]
}

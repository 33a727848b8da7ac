/**
 * Assembly Instructions: the Steps of an Assembly or a Template, checked without a network.
 *
 * The rules for Steps are beyond the specification, which mentions Steps, but does not define them.
 *
 * @example
 * import * as Instructions from "@assembly-effect/schema/Instructions"
 *
 * Instructions.make({
 *   ":original": { robot: "/upload/handle" },
 *   hashed: { robot: "/file/hash", use: ":original", algorithm: "sha256" }
 * })
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Step } from "./Assembly.ts"
import type { Issue } from "./InvalidRequest.ts"
import { cyclic } from "./internal/cycles.ts"
import { optionProblems } from "./internal/robotOptions.ts"

/**
 * Text with a variable, such as `${fields.name}`. The service replaces the variable with its value. The emulator
 * replaces variables only in the `path` of `/transloadit/store`.
 *
 * @since 0.1.0
 * @category models
 */
export type Variable = `${string}\${${string}}${string}`

/**
 * An object in the `use` of a Step. `name` is the name of the used Step, `fields` selects files of the used Step by
 * their form field, and `as` is the role of the selected files for the robot.
 *
 * @since 0.1.0
 * @category models
 */
export interface UsedStep {
  readonly name: string
  readonly fields?: string
  readonly as?: string
}

/**
 * The option `use` of a Step, which names the Steps whose results the Step uses: {@link UseSteps}, or an object with
 * {@link UseSteps} as `steps`. The name `:original` stands for the uploads.
 *
 * @since 0.1.0
 * @category models
 */
export type Use = UseSteps | (Schema.JsonObject & { readonly steps: UseSteps })

/**
 * The Steps in a {@link Use}: one entry, or a list of entries. An entry is the name of a Step, or a {@link UsedStep}.
 *
 * @since 0.1.0
 * @category models
 */
export type UseSteps = string | UsedStep | ReadonlyArray<string | UsedStep>

interface Common {
  readonly use?: Use
  readonly result?: boolean | "debug"
  readonly [option: string]: Schema.Json | Use | undefined
}

/**
 * The robots whose options have types. A Step may name any other robot, with any options.
 *
 * - `/upload/handle`: accepts the uploads. Only a Step with this robot may have the name `:original`.
 * - `/transloadit/store`: stores each file as an asset at `path`.
 * - `/file/hash`: hashes each file. `meta.hash` of each result is the hash.
 * - `/emulator/fail` and `/emulator/wait`: exist only in the emulator (`@assembly-effect/emulator`).
 *   `/emulator/fail` fails with the error code in `error`, by default `INTERNAL_COMMAND_ERROR`. `/emulator/wait` waits
 *   for `seconds` seconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Robots {
  readonly "/upload/handle": Common
  readonly "/transloadit/store": Common & { readonly path?: string }
  readonly "/file/hash": Common & {
    readonly algorithm?: "b2" | "md5" | "sha1" | "sha224" | "sha256" | "sha384" | "sha512" | Variable
  }
  readonly "/emulator/fail": Common & { readonly error?: string; readonly message?: string }
  readonly "/emulator/wait": Common & { readonly seconds: number }
}

/** A Step with the robot `Robot`. */
type StepOf<Robot extends string> = { readonly robot: Robot } & (Robot extends keyof Robots ? Robots[Robot] : Common)

/**
 * Steps by name. The options of a robot in {@link Robots} have types; any other robot may have any options.
 *
 * @since 0.1.0
 * @category models
 */
export type Steps<Robot extends Readonly<Record<string, string>> = Readonly<Record<string, string>>> = {
  readonly [Name in keyof Robot]: StepOf<Robot[Name]>
}

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
 * Instructions.references({ use: { steps: ["faces", 1] } })
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
 * Instructions.used({ robot: "/image/resize", use: { steps: [":original", "faces"] } }) // [":original", "faces"]
 *
 * @since 0.1.0
 * @category utilities
 */
export const used = (step: { readonly [option: string]: unknown }): ReadonlyArray<string> => [
  ...new Set(
    references(step)
      .filter(isReference)
      .map(({ name }) => name)
  )
]

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
    ...optionProblems(step).map(({ message: broken, option }) => ({ path: [name, option], message: broken }))
  ]
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
  return [
    ...found,
    ...cyclic(uses).map((name): Issue => ({
      path: [name, "use"],
      message: "Expected Steps that do not use this Step, directly or through others"
    }))
  ]
}

/** Steps that have passed the checks. */
type Checked<Robot extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Robot]: Step & { readonly robot: Robot[Name] }
}

/**
 * Checks these rules for Steps, without a network:
 *
 * - Each Step has a robot.
 * - `use` is a {@link Use}, and names Steps that exist. The name `:original` always exists.
 * - No Step uses itself, directly or through other Steps.
 * - The name `:original` is reserved for a Step with the robot `/upload/handle`.
 * - The options that {@link Robots} declares for one robot, such as `seconds` of `/emulator/wait`, have valid values. A
 *   value with a {@link Variable} is valid.
 *
 * An option with the value `undefined` is left out of the result. The failure contains all problems at once.
 * `Templates.create` and `Assemblies.create` check the same rules. If an Assembly has a `templateId`, a `use` may name
 * any Step.
 *
 * @example
 * Instructions.make({ a: { robot: "/file/hash", use: "b" } })
 * // Result.fail([{ path: ["a", "use"], rule: "Expected the name of a Step" }])
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Robot extends Readonly<Record<string, string>>>(
  steps: Steps<Robot>
): Result.Result<Checked<Robot>, ReadonlyArray<Issue>> => check(steps)

const check = <Robot extends Readonly<Record<string, string>>>(
  steps: Readonly<Record<string, object>>
): Result.Result<Checked<Robot>, ReadonlyArray<Issue>> => {
  const found = problems(steps)
  if (found.length > 0) return Result.fail(found)
  const withoutUndefined = Record.map(steps, (step) => Record.filter({ ...step }, Predicate.isNotUndefined))
  // The check has proved that each Step has a robot. The types of the options permit only JSON and `undefined`.
  return Result.succeed(withoutUndefined as Checked<Robot>)
}

/** A Step with the robot `Robot` of a catalogue. A robot that is not in the catalogue is a type error that lists them. */
type StepIn<Catalogue extends { readonly robot: string }, Robot extends string> = [
  Extract<Catalogue, { readonly robot: Robot }>
] extends [never]
  ? { readonly robot: Catalogue["robot"] }
  : { readonly robot: Robot } & Extract<Catalogue, { readonly robot: Robot }>

/**
 * Makes a {@link make} whose Steps have the types of a catalogue: a union of types of Steps, such as
 * `InterpolatableRobotImageResizeInstructionsInput` of `@transloadit/types/robots`. An editor then completes robots and options, and an unknown one is a type error. The checks are
 * those of `make`.
 *
 * @example
 * type Catalogue = { readonly robot: "/image/resize"; readonly use: string; readonly width?: number }
 * const make = Instructions.of<Catalogue>()
 * make({ resized: { robot: "/image/resize", use: ":original", width: 100 } })
 *
 * @since 0.1.0
 * @category constructors
 */
export const of =
  <Catalogue extends { readonly robot: string }>() =>
  <const Robot extends Readonly<Record<string, string>>>(steps: {
    readonly [Name in keyof Robot]: StepIn<Catalogue, Robot[Name]>
  }): Result.Result<Checked<Robot>, ReadonlyArray<Issue>> =>
    check(steps)

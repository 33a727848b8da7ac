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
import * as StepRules from "./unstable/StepRules.ts"

/**
 * Text with a variable, such as `${fields.name}`. The service replaces the variable with its value. The emulator
 * replaces variables only in the `path` of `/transloadit/store`.
 */
type Variable = `${string}\${${string}}${string}`

/**
 * An object in the `use` of a Step. `name` is the name of the used Step, `fields` selects files of the used Step by
 * their form field, and `as` is the role of the selected files for the robot.
 */
interface UsedStep {
  readonly name: string
  readonly fields?: string
  readonly as?: string
}

/**
 * The option `use` of a Step, which names the Steps whose results the Step uses: {@link UseSteps}, or an object with
 * {@link UseSteps} as `steps`. The name `:original` stands for the uploads.
 */
type Use = UseSteps | (Schema.JsonObject & { readonly steps: UseSteps })

/**
 * The Steps in a {@link Use}: one entry, or a list of entries. An entry is the name of a Step, or a {@link UsedStep}.
 */
type UseSteps = string | UsedStep | ReadonlyArray<string | UsedStep>

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

/** Steps that have passed the checks. */
type Checked<Robot extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Robot]: Step & { readonly robot: Robot[Name] }
}

/**
 * Checks these rules for Steps, without a network:
 *
 * - Each Step has a robot.
 * - `use` is the name of a Step, an object with a `name`, a list of these, or an object with these as `steps`, and each Step
 *   in it exists. The name `:original` always exists.
 * - No Step uses itself, directly or through other Steps.
 * - The name `:original` is reserved for a Step with the robot `/upload/handle`.
 * - The options that {@link Robots} declares for one robot, such as `seconds` of `/emulator/wait`, have valid values. A
 *   value with a variable, such as `${fields.name}`, is valid.
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
  const found = StepRules.problems(steps)
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

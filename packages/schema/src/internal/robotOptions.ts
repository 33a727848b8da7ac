/**
 * The options of the robots that the emulator (`@assembly-effect/emulator`) runs.
 */

/** An option whose value is invalid or missing. `rule` describes the broken rule. */
export interface OptionProblem {
  readonly option: string
  readonly message: string
}

interface Option {
  readonly isRequired?: boolean
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

const text: Option = { expected: "at least 1 character", holds: (value) => typeof value === "string" && value !== "" }

const algorithms: ReadonlySet<unknown> = new Set(["b2", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"])

const robots: ReadonlyMap<unknown, Readonly<Record<string, Option>>> = new Map([
  ["/transloadit/store", { path: text } as Readonly<Record<string, Option>>],
  [
    "/file/hash",
    { algorithm: { expected: `one of ${[...algorithms].join(", ")}`, holds: (value) => algorithms.has(value) } }
  ],
  ["/emulator/fail", { error: text, message: text }],
  [
    "/emulator/wait",
    {
      seconds: {
        isRequired: true,
        expected: "a number of at least 0",
        holds: (value) => typeof value === "number" && value >= 0 && value < Infinity
      }
    }
  ]
])

/**
 * Whether a value contains a variable such as `${fields.name}`. A value with a variable is not checked, because only
 * the service knows the value of the variable.
 */
const hasVariable = (value: unknown): boolean => typeof value === "string" && /\$\{[^{}]+\}/.test(value)

/** The invalid and the missing options of a Step. The options of an unknown robot are not checked. */
export const optionProblems = (step: Readonly<Record<string, unknown>>): ReadonlyArray<OptionProblem> =>
  Object.entries(robots.get(step["robot"]) ?? {}).flatMap(([option, { expected, holds, isRequired = false }]) => {
    const value = step[option]
    const isValid = value === undefined ? !isRequired : holds(value) || hasVariable(value)
    return isValid ? [] : [{ option, message: `Expected ${expected}` }]
  })

/**
 * Generates the sources of a library that wraps every public function. The library exports each value again, calls each
 * function, and names each type that a call can succeed with, fail with or need. Nothing has an annotation, so the
 * compiler writes the types into the declarations.
 */
import type { Module, Surface } from "./Surface.ts"

/**
 * A conditional type, which distributes over a union. The compiler must then write each member of the union, instead of
 * the name of the union.
 */
const each = (role: string, name: string) => `(${name} extends unknown ? { readonly ${role}: ${name} } : never)`

const outcomeOf = (type: string) =>
  `R extends ${type}<infer A, infer E, infer Q> ? ${each("success", "A")} | ${each("failure", "E")} | ${each("need", "Q")} : `

const prelude = (specifier: string) => `import * as Module from "${specifier}"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"

declare const outcome: <R>(call: (...args: never) => R) => ${["Effect.Effect", "Stream.Stream", "Layer.Layer"]
  .map(outcomeOf)
  .join("")}{ readonly result: R }
`

const sourceOf = ({ specifier, values }: Module): string =>
  prelude(specifier) +
  values
    .flatMap(({ isFunction, name }) => [
      `export const same_${name} = Module.${name}`,
      ...(isFunction
        ? [
            `export const call_${name} = (...args: Parameters<typeof Module.${name}>) => Module.${name}(...args)`,
            `export const outcome_${name} = outcome(Module.${name})`
          ]
        : [])
    ])
    .join("\n")

/** The sources, by file name. */
export const sources = ({ modules }: Surface): ReadonlyMap<string, string> =>
  new Map(
    modules
      .filter(({ values }) => values.length > 0)
      .map((module) => [
        `${module.specifier.replace("@assembly-effect/", "").replaceAll("/", "_")}.ts`,
        sourceOf(module)
      ])
  )

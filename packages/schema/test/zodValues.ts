/**
 * Values that a schema of zod accepts, made from its own structure. The structure is zod's (version 3), read without
 * depending on it: what another kind of schema says is unknown here and fails.
 */

import type { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { assert } from "@effect/vitest"

/** A schema of zod 3, as far as its structure says which values it takes. */
export interface ZodSchema {
  readonly _def: {
    readonly typeName: string
    readonly unknownKeys?: string
    readonly innerType?: ZodSchema
    readonly schema?: ZodSchema
    readonly type?: ZodSchema
    readonly valueType?: ZodSchema
    readonly options?: ReadonlyArray<ZodSchema>
    readonly values?: ReadonlyArray<string>
    readonly value?: unknown
    readonly shape?: () => Readonly<Record<string, ZodSchema>>
  }
  readonly safeParse: (value: unknown) => { readonly success: boolean }
}

type Definition = ZodSchema["_def"]

const texts = [
  "",
  "a",
  "cat.jpg",
  "2025/09/24 14:30:24 GMT",
  "null",
  "0",
  "ファイル 😀",
  "https://x.example/a?b=c",
  "__proto__"
]
const numbers = [0, -1, 1, 0.5, -12.25, 1e21, 5e-324, 2 ** 53, Number.MAX_SAFE_INTEGER, 1_758_724_224]
const json: ReadonlyArray<unknown> = [null, true, "x", 1.5, [], [null, ["a", {}]], {}, { a: { b: [1, null] } }]

/** How often a key that may be absent is there. */
const presence = 0.2

/** What makes values of a schema, absent ones as `undefined`; `draw` decides which. */
export const generator = (draw: Draw) => {
  const oneOf =
    <A>(values: ReadonlyArray<A> = []): (() => A) =>
    () =>
      draw.of(values)
  const some = <A>(make: () => A): ReadonlyArray<A> => Array.from({ length: draw.below(3) }, make)
  const anyText = oneOf(texts)
  const anyJson = oneOf(json)

  const ofObject = ({ shape, unknownKeys }: Definition) => {
    const fields = Object.entries(shape?.() ?? {}).map(([key, field]) => [key, of(field)] as const)
    return () => {
      const known = fields.map(([key, make]) => [key, make()] as const).filter(([, value]) => value !== undefined)
      const isExtended = unknownKeys === "passthrough" && draw.chance(presence)
      return { ...Object.fromEntries(known), ...(isExtended ? { added_later: anyJson() } : undefined) }
    }
  }

  const kinds: Readonly<Record<string, (def: Definition) => () => unknown>> = {
    ZodString: () => anyText,
    ZodNumber: () => oneOf(numbers),
    ZodBoolean: () => oneOf([true, false]),
    ZodNull: () => () => null,
    ZodUndefined: () => () => undefined,
    ZodUnknown: () => anyJson,
    ZodLiteral:
      ({ value }) =>
      () =>
        value,
    ZodEnum: ({ values }) => oneOf(values),
    ZodUnion: ({ options = [] }) => {
      const member = oneOf(options.map(of))
      return () => member()()
    },
    ZodOptional: ({ innerType }) => {
      const make = of(innerType)
      return () => (draw.chance(presence) ? make() : undefined)
    },
    ZodNullable: ({ innerType }) => {
      const make = of(innerType)
      return () => (draw.chance(presence) ? null : make())
    },
    ZodEffects: ({ schema }) => of(schema),
    ZodArray: ({ type }) => {
      const make = of(type)
      return () => some(make)
    },
    ZodRecord: ({ valueType }) => {
      const make = of(valueType)
      return () => Object.fromEntries(some(() => [anyText(), make()]))
    },
    ZodObject: ofObject
  }

  const of = (schema: ZodSchema | undefined): (() => unknown) => {
    const { _def: def } = schema ?? assert.fail("a schema without its part")
    return (kinds[def.typeName] ?? assert.fail(`a kind of schema that is not known here: ${def.typeName}`))(def)
  }
  return of
}

/**
 * Values that a schema of zod accepts, made from its own structure. The structure is zod's (version 3), read without
 * depending on it: what another kind of schema says is unknown here and fails.
 */

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

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export const chances = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}

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

/** What makes values of a schema, absent ones as `undefined`; `chance` decides which. */
export const generator = (chance: () => number) => {
  const oneOf = <A>(values: ReadonlyArray<A> = []): (() => A) => {
    if (values.length === 0) throw new Error("nothing to choose from")
    return () => values[Math.floor(chance() * values.length)] as A
  }
  const some = <A>(make: () => A): ReadonlyArray<A> => Array.from({ length: Math.floor(chance() * 3) }, make)
  const anyText = oneOf(texts)
  const anyJson = oneOf(json)

  const ofObject = ({ shape, unknownKeys }: ZodSchema["_def"]) => {
    const fields = Object.entries(shape?.() ?? {}).map(([key, field]) => [key, of(field)] as const)
    return () => {
      const object: Record<string, unknown> = {}
      for (const [key, make] of fields) {
        const value = make()
        if (value !== undefined) object[key] = value
      }
      if (unknownKeys === "passthrough" && chance() < presence) object["added_later"] = anyJson()
      return object
    }
  }

  const of = (schema: ZodSchema | undefined): (() => unknown) => {
    if (schema === undefined) throw new Error("a schema without its part")
    const { _def: def } = schema
    switch (def.typeName) {
      case "ZodString":
        return anyText
      case "ZodNumber":
        return oneOf(numbers)
      case "ZodBoolean":
        return oneOf([true, false])
      case "ZodNull":
        return () => null
      case "ZodUndefined":
        return () => undefined
      case "ZodUnknown":
        return anyJson
      case "ZodLiteral":
        return () => def.value
      case "ZodEnum":
        return oneOf(def.values)
      case "ZodUnion": {
        const member = oneOf((def.options ?? []).map(of))
        return () => member()()
      }
      case "ZodOptional": {
        const make = of(def.innerType)
        return () => (chance() < presence ? make() : undefined)
      }
      case "ZodNullable": {
        const make = of(def.innerType)
        return () => (chance() < presence ? null : make())
      }
      case "ZodEffects":
        return of(def.schema)
      case "ZodArray": {
        const make = of(def.type)
        return () => some(make)
      }
      case "ZodRecord": {
        const make = of(def.valueType)
        return () => Object.fromEntries(some(() => [anyText(), make()]))
      }
      case "ZodObject":
        return ofObject(def)
      default:
        throw new Error(`a kind of schema that is not known here: ${def.typeName}`)
    }
  }
  return of
}

import { Arbitrary, Effect, Result, Schema, SchemaIssue } from "effect"

type Codec<T = unknown, E = unknown> = Schema.ConstraintCodec<T, E>

export interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const toIssues = (result: Result.Result<unknown, Schema.SchemaError>): ReadonlyArray<Issue> =>
  Result.match(result, {
    onSuccess: () => [],
    onFailure: ({ issue }) =>
      format(issue).issues.map(({ message, path = [] }) => ({ message, path: path as ReadonlyArray<PropertyKey> }))
  })

const toTexts = (issues: ReadonlyArray<Issue>): ReadonlyArray<string> =>
  issues.map(({ message, path }) => [path.map(String).join("."), message].filter((part) => part !== "").join(": "))

/** Every issue of a value on the wire, none when it decodes. */
export const wireIssues = (schema: Codec, input: unknown): ReadonlyArray<Issue> =>
  toIssues(Schema.decodeUnknownResult(schema, { errors: "all" })(input))

/** Every issue of a value that a program passes in, none when it encodes. */
export const decodedIssues = (schema: Codec, input: unknown): ReadonlyArray<Issue> =>
  toIssues(Schema.encodeUnknownResult(schema, { errors: "all" })(input))

/** The issues of a value on the wire as `path: message`. */
export const onDecode = (schema: Codec, input: unknown): ReadonlyArray<string> => toTexts(wireIssues(schema, input))

/** The issues of a decoded value as `path: message`. */
export const onEncode = (schema: Codec, input: unknown): ReadonlyArray<string> => toTexts(decodedIssues(schema, input))

/** Whether a value on the wire decodes, as JSON would bring it. */
export const accepts = (schema: Codec, input: unknown): boolean => wireIssues(schema, input).length === 0

/** Which of the values do not decode, or do although they should not. */
export const accepted = (schema: Codec, inputs: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  inputs.filter((input) => accepts(schema, input))

/** Encoded, decoded and encoded again, a value stays the same; it never leaves its own schema. */
export const roundTrips = <T, E>(schema: Codec<T, E>) => {
  const encode = Schema.encodeSync(schema)
  const decode = Schema.decodeUnknownSync(schema)
  const is = Schema.is(Schema.toType(schema))
  const same = Schema.toEquivalence(Schema.toEncoded(schema))
  return (value: T): boolean => {
    const wire = encode(value)
    const decoded = decode(wire)
    return is(decoded) && same(encode(decoded), wire)
  }
}

/** With `VALUES=100`, every sample has a hundred times as many values, and with `SEED`, other ones. */
const factor = Number(process.env["VALUES"] ?? 1)
const ownSeed = process.env["SEED"] ?? "assembly"

/** A seeded sample, so that a failure is the same everywhere. */
export const sample = <A>(
  arbitrary: Arbitrary.Arbitrary<A>,
  count: number,
  { maxDiscards = 100 + count * 10, seed = ownSeed }: { readonly maxDiscards?: number; readonly seed?: string } = {}
) =>
  Effect.runSync(Arbitrary.sampleEffect(arbitrary, { count: count * factor, maxDiscards: maxDiscards * factor, seed }))

/** An object without one of its keys. */
export const without = (value: object, key: string): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))

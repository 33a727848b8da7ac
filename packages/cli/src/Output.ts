/**
 * Writing to the standard output.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Terminal from "effect/Terminal"
import * as Style from "./Style.ts"

/** Writes lines. */
export const lines = (texts: ReadonlyArray<string>): Effect.Effect<void> => Console.log(texts.join("\n"))

/** Writes a value as the JSON of its schema. */
export const json = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S) => {
  const encode = Schema.encodeEffect(schema)
  return (value: S["Type"]): Effect.Effect<void> =>
    encode(value).pipe(
      // A value that was decoded with a schema can be encoded with it.
      Effect.orDie,
      Effect.flatMap((encoded) => Console.log(JSON.stringify(encoded, null, 2)))
    )
}

/**
 * What a layout depends on. `width` is undefined where nobody cuts lines: in a file or a pipe.
 */
export const layout: Effect.Effect<
  { readonly width: number | undefined; readonly style: Style.Style },
  never,
  Terminal.Terminal
> = Effect.gen(function* () {
  const { columns } = yield* Terminal.Terminal
  const width = yield* columns
  return { width: width === 0 ? undefined : width, style: yield* Style.current }
})

/** The options of packs. */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as Packing from "./packing.ts"

const sizeOf = (input: unknown) =>
  Option.filter(ByteSize.fromInput(input as ByteSize.Input), (size) => size > 0n && size <= Number.MAX_SAFE_INTEGER)

/** A number of bytes above zero, such as `"64 MiB"`. */
const Bytes = Schema.declare((input): input is ByteSize.Input => Option.isSome(sizeOf(input)), {
  expected: 'a number of bytes above zero, such as "64 MiB"'
}).pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transform((input) => Number(ByteSize.fromInputUnsafe(input))),
    encode: SchemaGetter.transform((bytes) => ByteSize.bytes(bytes))
  })
)

/**
 * The options of packs, see `AssemblyUpload.AllOptions`.
 *
 * @since 0.1.0
 * @category packing
 */
export const Options = Schema.Struct({
  files: Schema.optional(Rules.whole(1)),
  bytes: Schema.optional(Bytes),
  within: Schema.optional(Rules.pause),
  repeatable: Schema.Literal(true)
})
/**
 * The type of {@link Options}.
 *
 * @since 0.1.0
 * @category packing
 */
export type Options = typeof Options.Type

/**
 * The limits that options set.
 *
 * @since 0.1.0
 * @category packing
 */
export const limitsOf = ({
  bytes = 64 * 1024 * 1024,
  files = 100,
  within = Duration.seconds(2)
}: Options): Packing.Limits => ({
  files,
  bytes,
  within: Math.ceil(Duration.toMillis(within))
})

/** The default number of files that are uploaded at the same time. */
export const uploadsAtOnce = 16

/** How many jobs are active at the same time. */
export const jobsAtOnce = (assemblies: number, packing: Options | undefined): number =>
  packing === undefined ? assemblies : assemblies * limitsOf(packing).files

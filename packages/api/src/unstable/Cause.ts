/**
 * The error that caused another error, as a field of that error.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * The fields that every typed error has. A cause that is encoded as JSON contains only these fields.
 *
 * @since 0.1.0
 * @category models
 */
export interface Told {
  readonly _tag: string
  readonly message: string
}

/**
 * The schema of a typed error that caused another error. Encoded as JSON, the cause has only its tag and its message.
 *
 * **Gotchas**
 *
 * Do not use this schema for an error of an HTTP client, because such an error contains the request with its
 * credential.
 *
 * @since 0.1.0
 * @category schemas
 */
export const of = <E extends Told>() =>
  Schema.declare(
    (u: unknown): u is E | Told => Predicate.hasProperty(u, "_tag") && Predicate.hasProperty(u, "message"),
    {
      toCodecJson: () =>
        Schema.link<Told>()(Schema.Struct({ _tag: Schema.String, message: Schema.String }), {
          decode: SchemaGetter.passthrough(),
          encode: SchemaGetter.transform(({ _tag, message }) => ({ _tag, message }))
        })
    }
  )

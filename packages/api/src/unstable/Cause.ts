/**
 * The error that caused another error, as a field of that error.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * The fields that every typed error has. In a JSON form, only these fields of a cause remain.
 *
 * @since 0.1.0
 * @category models
 */
export interface Told {
  readonly _tag: string
  readonly message: string
}

/**
 * A typed error as a cause. In a JSON form it has its tag and its message.
 *
 * **Gotchas**
 *
 * Do not use it for an error of an HTTP client, which contains the request with its credential.
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

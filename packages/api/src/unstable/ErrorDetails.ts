/**
 * The fields of errors that describe the request and the response, and the messages of these errors.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * The fields of an error that describe its request.
 *
 * - `operation`: the name of the operation, such as `Assemblies.list`.
 * - `host`: the host of the request, with its port if this is not the default port. `host` never contains a path or a
 *   query, because the URL of an upload or a Status grants access.
 * - `assemblyId`: the id of the Assembly that the request is about, if it is known. Anybody who has the id can read the
 *   Status, so an application that exports errors may want to remove the id. The messages of these errors, and spans,
 *   never contain the complete id.
 *
 * @since 0.1.0
 * @category schemas
 */
export const subject = {
  operation: Schema.String,
  host: Schema.optionalKey(Schema.String),
  assemblyId: Schema.optionalKey(Schema.String)
}

/**
 * The response of the service: its error code, the HTTP status and the other fields of the error object.
 *
 * `code` is absent if the response has no error code. All texts of the service are redacted, printable and limited (`@assembly-effect/auth/Redaction`): `code` and
 * `requestId` to 100 characters, `description` (the service's `message`, else the code) and each text in `reason` to
 * 1,000 characters. A text that was cut ends with `…`. `requestId` is the `x-request-id` of the response, with which
 * the service can find the request. `assemblyId` is the id in the request, else the id in the response.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Details = Schema.Struct({
  ...subject,
  code: Schema.optionalKey(Schema.String),
  status: Schema.Int,
  description: Schema.String,
  reason: Schema.optionalKey(Schema.Json),
  requestId: Schema.optionalKey(Schema.String)
})
/**
 * @since 0.1.0
 * @category models
 */
export type Details = typeof Details.Type

/**
 * Whether the service does not know what the request is about.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isNotFound = (error: { readonly _tag: string; readonly status?: number | undefined }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

type Answered = Pick<Details, "description" | "status"> & { readonly code?: string | undefined }

/**
 * The code and the status of a response, and the explanation of the service if it differs from the code.
 *
 * @since 0.1.0
 * @category utilities
 */
export const answered = ({ code, description, status }: Answered): string =>
  `${code === undefined ? "" : `${code}, `}status ${status}${description === "" || description === code ? "" : `: ${description}`}`

/**
 * Describes a clock skew for a message. `clockSkew` is in milliseconds, and is positive if the clock of the service is
 * ahead of the local clock.
 *
 * @since 0.1.0
 * @category utilities
 */
export const skewed = (clockSkew: number): string =>
  `the clock of the service is ${Math.abs(clockSkew) / 1000} s ${clockSkew < 0 ? "behind" : "ahead of"} the local clock`

/**
 * Makes the base class of an error with the {@link Details} of a response.
 *
 * @since 0.1.0
 * @category utilities
 */
export const refusal =
  <Self>() =>
  <const Tag extends string>(tag: Tag) =>
    Expected.TaggedError<Self>()(tag, Details.fields, (error) => `${error.operation} failed with ${answered(error)}`)

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
export const cause = <E extends Told>() =>
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

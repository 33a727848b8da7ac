/**
 * The bodies of the errors of a tus server (spec.md, "Errors").
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

const line = /^(ERR_[A-Z0-9_]+): (.*)\n$/s

/**
 * The text of a tus error. `Line` is a text `ERR_CODE: message` that ends with a line feed. `Hook` is any other text,
 * such as the raw text of a hook of the server, which is not necessarily JSON.
 *
 * Clause: spec.md, "Errors".
 *
 * @since 0.1.0
 * @category schemas
 */
export const TusErrorText = Schema.TaggedUnion({
  Line: {
    code: Schema.String.check(Schema.isPattern(/^ERR_[A-Z0-9_]+$/u, { expected: "ERR_ and a code in upper case" })),
    message: Schema.String
  },
  Hook: {
    text: Schema.String.check(
      Schema.makeFilter((text) => !line.test(text), { expected: "a text other than ERR_CODE: message" })
    )
  }
})
/**
 * @since 0.1.0
 * @category models
 */
export type TusErrorText = typeof TusErrorText.Type

/**
 * Parses the body of a tus error response. A text that is not a `Line` is a `Hook`.
 *
 * Clause: spec.md, "Errors".
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseTusError = (text: string): TusErrorText => {
  const [, code, message] = line.exec(text) ?? []
  return code === undefined || message === undefined ? { _tag: "Hook", text } : { _tag: "Line", code, message }
}

/**
 * The body of a tus error response (spec.md, "Errors"). Decoding never fails: a text `ERR_CODE: message` that ends with
 * a line feed is a `Line`, and any other text is a `Hook`.
 *
 * @example `"ERR_UPLOAD_STOPPED: no\n"`, `'{"error":"no "quotes""}'`
 *
 * @since 0.1.0
 * @category schemas
 */
export const TusErrorBody = Schema.String.pipe(
  Schema.decodeTo(TusErrorText, {
    decode: SchemaGetter.transform(parseTusError),
    encode: SchemaGetter.transform((error) =>
      error._tag === "Line" ? `${error.code}: ${error.message}\n` : error.text
    )
  })
)

/**
 * The bodies of the errors of a tus server (spec.md, "Errors").
 */

/**
 * The text of a tus error. `Line` is a text `ERR_CODE: message` that ends with a line feed. `Hook` is any other text,
 * such as the raw text of a hook of the server, which is not necessarily JSON.
 *
 * Clause: spec.md, "Errors".
 *
 * @since 0.1.0
 * @category models
 */
export type TusError =
  | { readonly _tag: "Line"; readonly code: string; readonly message: string }
  | { readonly _tag: "Hook"; readonly text: string }

/**
 * Parses the body of a tus error response. A text that is not a `Line` is a `Hook`.
 *
 * Clause: spec.md, "Errors".
 *
 * @example `"ERR_UPLOAD_STOPPED: no\n"`, `'{"error":"no "quotes""}'`
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseTusError = (text: string): TusError => {
  const [, code, message] = /^(ERR_[A-Z0-9_]+): (.*)\n$/s.exec(text) ?? []
  return code === undefined || message === undefined ? { _tag: "Hook", text } : { _tag: "Line", code, message }
}

import { Schema } from "effect"

/** The key of a job, or its beginning. Databases replace a lone surrogate by another character. */
export const KeyText = Schema.String.check(
  Schema.isMaxLength(255),
  Schema.isPattern(/^[^\p{Cc}\p{Cs}]*$/u, { expected: "valid Unicode without control characters" })
)

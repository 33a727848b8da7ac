import * as Input from "@assembly-effect/api/unstable/Input"
import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"

const decode = SchemaParser.decodeUnknownResult(SecureUrl.SecureUrl)

/**
 * Parses an absolute https URL, or returns the broken rule. The rule does not contain the text, which may be a trap or
 * a secret.
 */
export const secureUrl = (text: string): Result.Result<string, string> =>
  Result.mapError(decode(text), (issue) =>
    Input.fromSchemaIssue(issue)
      .map(({ message }) => message)
      .join("; ")
  )

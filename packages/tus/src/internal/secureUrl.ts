import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"

const decode = SchemaParser.decodeUnknownResult(SecureUrl.SecureUrl)

/**
 * Decodes a `SecureUrl`. The failure describes the broken rule. The failure does not contain the text itself, because
 * the text may contain a secret or come from an attacker.
 */
export const secureUrl = (text: string): Result.Result<string, string> =>
  Result.mapError(decode(text), (issue) =>
    Input.fromSchemaIssue(issue)
      .map(({ message }) => message)
      .join("; ")
  )

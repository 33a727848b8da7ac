/**
 * The configuration variables of a client.
 */
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"

/** A `ConfigError` whose message names each variable with its problem. */
const toConfigError = (issue: SchemaIssue.Issue): Config.ConfigError => {
  const problems = Input.fromSchemaIssue(issue).map(({ message, path: [name] }) =>
    message === "Missing key" ? `${name} is not set` : `${name}: ${message}`
  )
  const error = new Config.ConfigError(new Schema.SchemaError(issue))
  return Object.defineProperty(error, "message", { value: problems.join("; ") })
}

/**
 * Reads every variable. The `ConfigError` names every variable that is missing, empty or blank, unlike the `ConfigError`
 * of `Config.all`, which stops at the first problem. A provider of environment variables has no text for an empty one.
 */
const read = <const Fields extends Readonly<Record<string, typeof Rules.notBlank>>>(fields: Fields) => {
  const decode = SchemaParser.decodeUnknownEffect(Schema.Struct(fields), { errors: "all" })
  const texts: Readonly<Record<string, Config.Config<Option.Option<string>>>> = Record.map(fields, (_, name) =>
    Config.option(Config.String(name))
  )
  return Effect.flatMap(Config.all(texts), (found) => Effect.mapError(decode(Record.getSomes(found)), toConfigError))
}

const keyAndSecret = { ASSEMBLY_AUTH_KEY: Rules.notBlank, ASSEMBLY_AUTH_SECRET: Rules.notBlank }

const toCredentials = (found: Readonly<Record<keyof typeof keyAndSecret, string>>) => ({
  key: found.ASSEMBLY_AUTH_KEY,
  secret: Redacted.make(found.ASSEMBLY_AUTH_SECRET)
})

/**
 * `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is missing, empty or blank.
 *
 * @since 0.1.0
 * @category utilities
 */
export const credentials = Effect.map(read(keyAndSecret), toCredentials)

/**
 * {@link credentials}, and `ASSEMBLY_BASE_URL`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const service = Effect.map(read({ ASSEMBLY_BASE_URL: Rules.notBlank, ...keyAndSecret }), (found) => ({
  baseUrl: found.ASSEMBLY_BASE_URL,
  ...toCredentials(found)
}))

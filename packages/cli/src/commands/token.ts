import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Variables from "@assembly-effect/auth/unstable/Variables"
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Output from "../internal/output.ts"
import * as Cli from "../internal/cli.ts"

const toBaseUrl = (text: string) =>
  Effect.mapError(SchemaParser.decodeUnknownEffect(SecureUrl.SecureUrl)(text), (issue) =>
    Input.invalidRequest("ASSEMBLY_BASE_URL", issue)
  )

/** A token as JSON. `expires_at` is missing if the service does not say when the token expires. */
const Printed = Schema.Struct({ access_token: Schema.String, expires_at: Schema.optionalKey(Schema.String) })

const scope = Cli.text("scope", "scope")

/** `assembly token`: prints a bearer token for another program. */
export const token = Cli.local(
  "token",
  {
    scopes: Cli.repeated(Flag.withSchema(scope, Auth.Scope)),
    json: Cli.json(Printed)
  },
  Effect.fnUntraced(function* ({ json, scopes }) {
    const { baseUrl, ...credentials } = yield* Variables.service
    const address = yield* toBaseUrl(baseUrl)
    const { expiresAt, value } = yield* Tokens.make(scopes.length === 0 ? {} : { scopes }).pipe(
      Effect.flatMap((tokens) => tokens.get({ baseUrl: address })),
      Effect.provide([Credentials.layer(credentials), RuntimeClient.layer])
    )
    const access_token = Redacted.value(value)
    const expiry = expiresAt === undefined ? {} : { expires_at: DateTime.formatIso(expiresAt) }
    yield* Output.show(json, Printed, { access_token, ...expiry }, () => Output.sentence(access_token))
  }, Cli.configured)
)

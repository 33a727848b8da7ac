import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Variables from "@assembly-effect/auth/unstable/Variables"
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Auth from "@assembly-effect/schema/Auth"
import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { repeated, switchFlag } from "../internal/flags.ts"
import * as Output from "../Output.ts"

const decodeBaseUrl = SchemaParser.decodeUnknownEffect(SecureUrl.SecureUrl)

const toBaseUrl = (text: string) =>
  Effect.mapError(decodeBaseUrl(text), (issue) => Input.invalidRequest("ASSEMBLY_BASE_URL", issue))

/** A token as JSON. `expires_at` is missing if the service does not say when the token expires. */
const Printed = Schema.Struct({ access_token: Schema.String, expires_at: Schema.optionalKey(Schema.String) })

/** `assembly token`: prints a bearer token for another program. */
export const token = Command.make(
  "token",
  {
    scopes: repeated(
      Flag.String("scope").pipe(
        Flag.withMetavar("scope"),
        Flag.withSchema(Auth.Scope),
        Flag.withDescription(
          "A scope of the token, such as assemblies:read; may be repeated (default: all scopes of the key)"
        )
      )
    ),
    json: switchFlag("json").pipe(
      Flag.withDescription("Print the token and its expiry as JSON"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ json, scopes }) {
    const { baseUrl, ...credentials } = yield* Variables.service
    const address = yield* toBaseUrl(baseUrl)
    const { expiresAt, value } = yield* Tokens.make(scopes.length === 0 ? {} : { scopes }).pipe(
      Effect.flatMap((tokens) => tokens.get({ baseUrl: address })),
      Effect.provide([Credentials.layer(credentials), RuntimeClient.layer])
    )
    const access_token = Redacted.value(value)
    if (!json) return yield* Output.lines([access_token])
    yield* Output.json(Printed)({
      access_token,
      ...(expiresAt === undefined ? {} : { expires_at: DateTime.formatIso(expiresAt) })
    })
  })
).pipe(
  Command.withDescription("Print a bearer token. It is a secret: pass it only to the program that needs it"),
  Command.withExamples([
    { command: "assembly token --scope assemblies:read", description: "A token that reads Assemblies" },
    { command: "assembly token > token.txt", description: "Save a token with all scopes of the Auth Key" },
    { command: "assembly token --json | jq -r .expires_at", description: "When a new token expires" }
  ])
)

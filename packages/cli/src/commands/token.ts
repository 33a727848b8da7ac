import { Tokens } from "@assembly-effect/auth"
import { AssemblyNode } from "@assembly-effect/node"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import { Flag } from "effect/cli"
import { Config, DateTime, Effect, Redacted, Schema } from "../internal/effect.ts"
import { Cli, Output } from "../internal/index.ts"

/** A token as JSON. `expires_at` is missing if the service does not say when the token expires. */
const Printed = Schema.Struct({ access_token: Schema.String, expires_at: Schema.optionalKey(Schema.String) })

const scope = Cli.text("scope", "scope")

/** `assembly token`: prints a bearer token for another program. */
export const token = Cli.local(
  "token",
  { scopes: Cli.repeated(Flag.withSchema(scope, Auth.Scope)), json: Cli.json(Printed) },
  Effect.fnUntraced(function* ({ json, scopes }) {
    const { expiresAt, value } = yield* Effect.gen(function* () {
      const tokens = yield* Tokens.make(scopes.length === 0 ? {} : { scopes })
      // The client has checked the URL.
      const baseUrl = SecureUrl.SecureUrl.make(yield* Config.String("ASSEMBLY_BASE_URL"))
      return yield* tokens.get({ baseUrl })
    }).pipe(Effect.provide(AssemblyNode.layerConfig()))
    const access_token = Redacted.value(value)
    const expiry = expiresAt === undefined ? {} : { expires_at: DateTime.formatIso(expiresAt) }
    yield* Output.show(json, Printed, { access_token, ...expiry }, () => Output.sentence(access_token))
  }, Cli.configured)
)

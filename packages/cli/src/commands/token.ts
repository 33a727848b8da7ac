import * as Input from "@assembly-effect/api/unstable/Input"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Auth from "@assembly-effect/schema/Auth"
import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import * as Config from "effect/Config"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as Output from "../Output.ts"

const decodeBaseUrl = SchemaParser.decodeUnknownEffect(SecureUrl.SecureUrl)

const baseUrl = Effect.flatMap(Config.NonEmptyString("ASSEMBLY_BASE_URL"), decodeBaseUrl).pipe(
  Effect.catchIf(SchemaIssue.isIssue, (issue) => Effect.fail(Input.invalidRequest("ASSEMBLY_BASE_URL", issue)))
)

/** `assembly token`: prints a bearer token for another program. */
export const token = Command.make(
  "token",
  {
    scopes: Flag.String("scope").pipe(
      Flag.withSchema(Auth.Scope),
      Flag.withDescription(
        "A scope of the token, such as assemblies:read; may be repeated (default: all scopes of the key)"
      ),
      Flag.atLeast(0)
    )
  },
  Effect.fnUntraced(function* ({ scopes }) {
    const address = yield* baseUrl
    const { value } = yield* Tokens.make(scopes.length === 0 ? {} : { scopes }).pipe(
      Effect.flatMap((tokens) => tokens.get({ baseUrl: address }))
    )
    yield* Output.lines([Redacted.value(value)])
  })
).pipe(
  Command.withDescription("Print a bearer token. It is a secret: pass it only to the program that needs it"),
  Command.withExamples([
    { command: "assembly token --scope assemblies:read", description: "A token that reads Assemblies" }
  ])
)

import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Emulator from "../Emulator.ts"
import * as AuthKeys from "./AuthKeys.ts"
import * as Ids from "./Ids.ts"

/** Every scope: those without a resource grant the ones with it, and these have no such form. */
const allScopes = ["read", "write", "smart_cdn:sign"]

const byDefault: Emulator.Workspace = { slug: "emulator", keys: [] }

const randomKey = Effect.all({ key: Ids.hex, secret: Effect.map(Ids.hex, (text) => Redacted.make(text)) })

/** The Auth Key that was asked for first, else the one that is there, else a new one. */
const firstKey = Effect.fnUntraced(function* ({
  keys,
  slug
}: Emulator.Workspace): Effect.fn.Return<Emulator.AuthKey, never, AuthKeys.AuthKeys | SecureRandom.SecureRandom> {
  const [asked] = keys
  if (asked !== undefined) return asked
  const existing = yield* AuthKeys.AuthKeys.use((authKeys) => authKeys.firstOf(slug))
  return Option.isSome(existing) ? existing.value : yield* randomKey
})

/** Makes the Workspaces and Auth Keys that are asked for; answers the first of them. */
export const ensure: (
  options: Pick<Emulator.Options, "credentials" | "workspaces">
) => Effect.Effect<
  { readonly slug: string; readonly key: string; readonly secret: Redacted.Redacted },
  never,
  AuthKeys.AuthKeys | SecureRandom.SecureRandom
> = Effect.fnUntraced(function* ({ credentials, workspaces = [] }) {
  const authKeys = yield* AuthKeys.AuthKeys
  const [{ keys, slug } = byDefault, ...others] = workspaces
  const given = credentials === undefined ? keys : [credentials, ...keys]
  const first = yield* firstKey({ slug, keys: given })
  for (const workspace of [{ slug, keys: given.length === 0 ? [first] : given }, ...others]) {
    for (const { key, scopes = allScopes, secret } of workspace.keys) {
      yield* authKeys.put({ key, secret, scopes, workspace: workspace.slug })
    }
  }
  return { slug, key: first.key, secret: first.secret }
})

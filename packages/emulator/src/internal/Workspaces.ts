import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Emulator from "../Emulator.ts"
import { InvalidTemplate, KeyInTwoWorkspaces } from "../EmulatorError.ts"
import * as Template from "../Template.ts"
import * as AuthKeys from "./AuthKeys.ts"
import * as Ids from "./Ids.ts"
import * as TemplateStore from "./TemplateStore.ts"

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

/** Before anything is kept: a start that fails leaves a folder of data as it was. */
const checkKeys = Effect.fnUntraced(function* (workspaces: ReadonlyArray<Emulator.Workspace>) {
  const authKeys = yield* AuthKeys.AuthKeys
  const owners = new Map<string, string>()
  for (const { keys, slug } of workspaces) {
    for (const { key } of keys) {
      const kept = yield* authKeys.find(key)
      const owner = owners.get(key) ?? (Option.isSome(kept) ? kept.value.workspace : slug)
      if (owner !== slug) return yield* new KeyInTwoWorkspaces({ key, workspaces: [owner, slug] })
      owners.set(key, slug)
    }
  }
})

const decodeTemplate = Schema.decodeUnknownEffect(Template.Template)

const putTemplate = Effect.fnUntraced(function* (workspace: string, template: Template.Template) {
  const { id } = template
  const { content, name = id } = yield* Effect.mapError(
    decodeTemplate(template),
    ({ message }) => new InvalidTemplate({ id, problem: message })
  )
  const templates = yield* TemplateStore.TemplateStore
  const isMade = yield* templates.put(workspace, id, { ...TemplateStore.defaults, name, content })
  if (!isMade) return yield* new InvalidTemplate({ id, problem: `another one has the name ${name}` })
})

/** The Workspaces that are asked for, the first one with what is given for it alone, and with a key. */
const asked = Effect.fnUntraced(function* ({ credentials, templates = [], workspaces = [] }: Options) {
  const [first = byDefault, ...others] = workspaces
  const given = credentials === undefined ? first.keys : [credentials, ...first.keys]
  const key = yield* firstKey({ ...first, keys: given })
  // `credentials` may repeat a key of the Workspace, and come first.
  const rest = given.filter((other) => other.key !== key.key)
  const whole = { ...first, keys: [key, ...rest], templates: [...templates, ...(first.templates ?? [])] }
  return { key, slug: first.slug, all: [whole, ...others] }
})

type Options = Pick<Emulator.Options, "credentials" | "templates" | "workspaces">

/** Makes the Workspaces, Auth Keys and Templates that are asked for; answers the first of them. */
export const ensure: (
  options: Options
) => Effect.Effect<
  { readonly slug: string; readonly key: string; readonly secret: Redacted.Redacted },
  KeyInTwoWorkspaces | InvalidTemplate,
  AuthKeys.AuthKeys | TemplateStore.TemplateStore | SecureRandom.SecureRandom
> = Effect.fnUntraced(function* (options) {
  const { all, key, slug } = yield* asked(options)
  yield* checkKeys(all)
  const authKeys = yield* AuthKeys.AuthKeys
  for (const { keys, slug: workspace, templates = [] } of all) {
    for (const { scopes = allScopes, ...authKey } of keys) yield* authKeys.put({ ...authKey, scopes, workspace })
    for (const template of templates) yield* putTemplate(workspace, template)
  }
  return { slug, key: key.key, secret: key.secret }
})

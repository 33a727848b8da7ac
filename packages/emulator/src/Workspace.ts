/**
 * The Workspaces of an emulator and their Auth Keys.
 */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Schema from "effect/Schema"
import * as Template from "./Template.ts"

/**
 * An Auth Key of a Workspace.
 *
 * - `scopes`: limits what requests with this key may do. By default the key has all scopes.
 * - `isActive`: if false, requests with this key are refused. True by default.
 *
 * @example `{ key: "key", secret: Redacted.make("secret"), scopes: ["assemblies:read"] }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const AuthKey = Schema.Struct({
  key: Rules.notBlank,
  secret: Schema.Redacted(Rules.notBlank),
  scopes: Schema.optional(Schema.Array(Auth.Scope)),
  isActive: Schema.optional(Schema.Boolean)
})
/**
 * @since 0.1.0
 * @category models
 */
export type AuthKey = typeof AuthKey.Type

/**
 * A Workspace: its slug, its Auth Keys and its Templates. Requests with a key of the Workspace may name its Templates as
 * `template_id`. An Auth Key belongs to one Workspace. If two Workspaces have the same key, the emulator does not start
 * (`KeyInTwoWorkspaces`).
 *
 * @example `{ slug: "shop", keys: [{ key: "key", secret: Redacted.make("secret") }] }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Workspace = Schema.Struct({
  slug: Rules.notBlank,
  keys: Schema.Array(AuthKey),
  templates: Schema.optional(Schema.Array(Template.Template))
})
/**
 * @since 0.1.0
 * @category models
 */
export type Workspace = typeof Workspace.Type

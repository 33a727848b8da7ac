/**
 * The Workspaces of an emulator and their Auth Keys.
 */
import type * as Auth from "@assembly-effect/schema/Auth"
import type * as Redacted from "effect/Redacted"
import type * as Template from "./Template.ts"

/**
 * An Auth Key of a Workspace.
 *
 * - `scopes`: limits what requests with this key may do. By default the key has all scopes.
 * - `isActive`: if false, requests with this key are refused. True by default.
 *
 * @example `{ key: "key", secret: Redacted.make("secret"), scopes: ["assemblies:read"] }`
 *
 * @since 0.1.0
 * @category models
 */
export interface AuthKey {
  readonly key: string
  readonly secret: Redacted.Redacted
  readonly scopes?: ReadonlyArray<Auth.Scope> | undefined
  readonly isActive?: boolean | undefined
}

/**
 * A Workspace: its slug, its Auth Keys and its Templates. An Auth Key belongs to one Workspace. If two Workspaces have
 * the same key, the emulator does not start (`KeyInTwoWorkspaces`).
 *
 * @example `{ slug: "shop", keys: [{ key: "key", secret: Redacted.make("secret") }] }`
 *
 * @since 0.1.0
 * @category models
 */
export interface Workspace {
  readonly slug: string
  readonly keys: ReadonlyArray<AuthKey>
  /** The Templates that requests with a key of this Workspace may name as `template_id`. */
  readonly templates?: ReadonlyArray<Template.Template> | undefined
}

import type * as Auth from "@assembly-effect/schema/Auth"

/** Returns whether `scopes` grant `scope`. `read` grants every `…:read` scope; `write` grants every `…:write` scope. */
export const grants = (scopes: ReadonlyArray<Auth.Scope>, scope: Auth.Scope): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

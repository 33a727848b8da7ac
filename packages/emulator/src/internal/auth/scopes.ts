import type * as Auth from "@assembly-effect/schema/unstable/Auth"

/** Returns whether `scopes` grant `scope`. `read` grants every `…:read` scope; `write` grants every `…:write` scope. */
export const grants = (scopes: ReadonlyArray<Auth.Scope>, scope: Auth.Scope): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

/** Returns the scopes in `asked` that `scopes` do not grant. */
export const lacking = (
  scopes: ReadonlyArray<Auth.Scope>,
  asked: ReadonlyArray<Auth.Scope>
): ReadonlyArray<Auth.Scope> => asked.filter((scope) => !grants(scopes, scope))

/** Returns scopes that grant exactly what both `one` and `other` grant. */
export const shared = (one: ReadonlyArray<Auth.Scope>, other: ReadonlyArray<Auth.Scope>): ReadonlyArray<Auth.Scope> => [
  ...new Set([...one.filter((scope) => grants(other, scope)), ...other.filter((scope) => grants(one, scope))])
]

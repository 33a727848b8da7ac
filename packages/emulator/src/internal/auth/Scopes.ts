import type * as Auth from "@assembly-effect/schema/Auth"

/** A scope without a resource, `read` or `write`, grants that of every resource. */
export const grants = (scopes: ReadonlyArray<Auth.Scope>, scope: Auth.Scope): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

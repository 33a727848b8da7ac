import type * as Auth from "@assembly-effect/schema/Auth"

/** Whether scopes include a scope. `read` and `write` without a resource grant the scope of every resource. */
export const grants = (scopes: ReadonlyArray<Auth.Scope>, scope: Auth.Scope): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

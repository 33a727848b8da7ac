/** A scope without a resource, `read` or `write`, grants that of every resource. */
export const grants = (scopes: ReadonlyArray<string>, scope: string): boolean =>
  scopes.includes(scope) || scopes.includes(scope.slice(scope.indexOf(":") + 1))

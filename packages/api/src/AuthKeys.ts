/**
 * Operations of Auth Keys. These operations are beyond the specification, which names them but does not define them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 *
 * The index does not export this module: `import * as AuthKeys from "@assembly-effect/api/AuthKeys"`.
 */
export { Create, create } from "./internal/authKeys/create.ts"
export { List, list } from "./internal/authKeys/list.ts"
export { Delete, remove as delete } from "./internal/authKeys/remove.ts"
export { Scopes, scopes } from "./internal/authKeys/scopes.ts"
export { Secret, secret } from "./internal/authKeys/secret.ts"
export { Update, update } from "./internal/authKeys/update.ts"

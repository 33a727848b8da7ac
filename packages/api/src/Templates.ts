/**
 * Operations of Templates. These operations are beyond the specification, which names them but does not define them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 *
 * The index does not export this module: `import * as Templates from "@assembly-effect/api/Templates"`.
 */
export { Create, create } from "./internal/templates/create.ts"
export { Get, get } from "./internal/templates/get.ts"
export { List, list, listAll, listPages } from "./internal/templates/list.ts"
export { Delete, remove as delete } from "./internal/templates/remove.ts"
export { Update, update } from "./internal/templates/update.ts"

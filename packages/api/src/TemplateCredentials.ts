/**
 * Operations of Template Credentials. These operations are beyond the specification, which names all of them except
 * `types`, and defines none of them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 *
 * The index does not export this module:
 * `import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"`.
 */
export { Create, create } from "./internal/templateCredentials/create.ts"
export { Get, get } from "./internal/templateCredentials/get.ts"
export { List, list } from "./internal/templateCredentials/list.ts"
export { Delete, remove as delete } from "./internal/templateCredentials/remove.ts"
export { Types, types } from "./internal/templateCredentials/types.ts"
export { Update, update } from "./internal/templateCredentials/update.ts"

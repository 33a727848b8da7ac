/**
 * Operations of DAM assets: move an asset (spec.md, "Move or rename a DAM asset", alpha), get, list, delete, move many,
 * delete many, and move by path.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 */
export { DeleteMany, deleteMany } from "./internal/dam/deleteMany.ts"
export { Get, get } from "./internal/dam/get.ts"
export { List, list, listAll, listPages } from "./internal/dam/list.ts"
export { Move, move } from "./internal/dam/move.ts"
export { MoveEntry, moveEntry } from "./internal/dam/moveEntry.ts"
export { MoveMany, moveMany } from "./internal/dam/moveMany.ts"
export { Delete, remove as delete } from "./internal/dam/remove.ts"

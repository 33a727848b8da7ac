/**
 * The creation of an Assembly with the files of `AssemblyUpload` in the same request.
 */
export { createWith } from "../internal/assemblies/create.ts"
export { isLost } from "../internal/lost.ts"
export { toFields } from "../internal/request.ts"

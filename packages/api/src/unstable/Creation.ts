/**
 * The creation of an Assembly with the files of `AssemblyUpload` in the same request.
 */
export { createWith, isLost } from "../internal/assemblies.ts"
export { toFields } from "../internal/request.ts"

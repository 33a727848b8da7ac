/**
 * The creation of an Assembly with the files of `AssemblyUpload` in the same request, and the rules of the wait for its end.
 */
export { awaitOptionIssues, createWith, isLost } from "../internal/assemblies.ts"
export { toFields } from "../internal/request.ts"

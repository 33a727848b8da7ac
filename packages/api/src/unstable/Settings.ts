/**
 * The rules of options of `@assembly-effect/auth/unstable/Settings`, for packages that build on the api.
 */
export { duration, issues, whole } from "@assembly-effect/auth/unstable/Settings"

/**
 * The rules of options of `@assembly-effect/auth/Settings`, for packages that build on the api.
 */
export { duration, issues, whole } from "@assembly-effect/auth/Settings"

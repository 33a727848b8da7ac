/**
 * Validates options with `@assembly-effect/auth/unstable/Settings`, for packages that depend on api.
 */
export { duration, issues, notBlank, whole } from "@assembly-effect/auth/unstable/Settings"

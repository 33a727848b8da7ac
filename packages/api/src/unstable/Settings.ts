/**
 * Exports functions of `@assembly-effect/auth/unstable/Settings` again, for packages such as `tus` that depend on `api`
 * but not on `auth`.
 */
export { duration, issues, notBlank, whole } from "@assembly-effect/auth/unstable/Settings"

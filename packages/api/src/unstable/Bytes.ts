/**
 * Joins bytes with `@assembly-effect/auth/unstable/Bytes`, for packages that depend on api.
 */
export { join } from "@assembly-effect/auth/unstable/Bytes"

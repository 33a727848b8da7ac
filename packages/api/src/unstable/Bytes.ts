/**
 * Exports the functions of `@assembly-effect/auth/unstable/Bytes` again, for packages such as `tus` that depend on `api` but
 * not on `auth`.
 */
export { join, own } from "@assembly-effect/auth/unstable/Bytes"

/**
 * The bytes of `@assembly-effect/auth/unstable/Bytes`, for packages that build on the api.
 */
export { join } from "@assembly-effect/auth/unstable/Bytes"

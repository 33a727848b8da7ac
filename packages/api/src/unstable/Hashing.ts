/**
 * The service with which a Layer replaces the implementation of MD5. This module loads no implementation.
 */
import * as Context from "effect/Context"

/**
 * An MD5 of bytes that arrive in pieces.
 *
 * - `add`: adds the next bytes. The bytes are not kept.
 * - `hex`: the MD5 of all bytes so far, in 32 lowercase hexadecimal digits. More bytes may be added afterwards.
 *
 * @since 0.1.0
 * @category models
 */
export interface Md5 {
  readonly add: (bytes: Uint8Array) => void
  readonly hex: () => string
}

/**
 * Makes an `Md5` to which no bytes have been added. Without this service, `make` of the module `Md5` computes the MD5 in
 * JavaScript. `NodeMd5.layer` of `@assembly-effect/node` uses `node:crypto`, which is about ten times faster.
 *
 * @since 0.1.0
 * @category services
 */
export class Hashing extends Context.Service<Hashing, () => Md5>()("@assembly-effect/api/unstable/Hashing") {}

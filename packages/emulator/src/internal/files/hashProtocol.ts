/** The algorithms of the digests in an Assembly Status and in an asset. */
export const contentAlgorithms = ["md5", "sha256"] as const

/**
 * The messages to the worker thread.
 *
 * - `Follow`: hashes the first `size` bytes of a file in advance. These bytes do not change any more.
 * - `Digest`: asks for the digests of a whole file. `algorithms` are names for `createHash` of Node.
 * - `Forget`: drops the hashes that `Follow` has computed for a file.
 */
export type Question =
  | { readonly _tag: "Follow"; readonly file: string; readonly size: number }
  | {
      readonly _tag: "Digest"
      readonly id: number
      readonly file: string
      readonly algorithms: ReadonlyArray<string>
    }
  | { readonly _tag: "Forget"; readonly file: string }

/**
 * The digests of a file with `size` bytes. The digests are texts of hexadecimal digits, in the order of the algorithms.
 */
export interface Digests {
  readonly size: number
  readonly digests: ReadonlyArray<string>
}

/** The answer of the worker thread to a `Digest` message. */
export type Answer =
  | { readonly _tag: "Digested"; readonly id: number; readonly digests: Digests }
  | { readonly _tag: "Failed"; readonly id: number; readonly code: string }

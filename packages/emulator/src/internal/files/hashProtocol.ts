/** The digests in a Status and in an asset. */
export const contentAlgorithms = ["md5", "sha256"] as const

/**
 * The messages to the worker.
 *
 * - `Follow`: hashes the first `size` bytes of a file in advance. These bytes do not change any more.
 * - `Digest`: asks for the digests of a whole file. `algorithms` are names that Node knows.
 * - `Forget`: drops the hashes of a file that `Follow` named.
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

/** The digests of `size` bytes in hexadecimal digits, in the order of the algorithms. */
export interface Digests {
  readonly size: number
  readonly digests: ReadonlyArray<string>
}

/** The response of the worker to a `Digest`. */
export type Answer =
  | { readonly _tag: "Digested"; readonly id: number; readonly digests: Digests }
  | { readonly _tag: "Failed"; readonly id: number; readonly code: string }

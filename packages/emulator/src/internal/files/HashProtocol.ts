/** What a file is known by: the digests that a Status and an asset carry. */
export const contentAlgorithms = ["md5", "sha256"] as const

/**
 * What the worker is asked.
 *
 * - `Follow`: so many bytes of a file stand; they will be asked for, and nothing of them changes any more.
 * - `Digest`: the digests of a whole file, by algorithms that Node knows.
 * - `Forget`: nobody will ask for the file.
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

/** The digests in hexadecimal digits, in the order of their algorithms, of so many bytes. */
export interface Digests {
  readonly size: number
  readonly digests: ReadonlyArray<string>
}

/** What the worker answers to a `Digest`. */
export type Answer =
  | { readonly _tag: "Digested"; readonly id: number; readonly digests: Digests }
  | { readonly _tag: "Failed"; readonly id: number; readonly code: string }

import * as Effect from "effect/Effect"
import type { UploadUrl } from "../UploadTarget.ts"

/** A part of an upload: its bytes, its marker, and where it is, once that is known. */
export interface Part {
  readonly marker: string
  readonly url: UploadUrl | undefined
  readonly start: bigint
  readonly end: bigint
}

/** Hears each step before it is taken, so that a crash loses none. */
export interface Recorder<E> {
  readonly creating: (marker: string) => Effect.Effect<void, E>
  readonly created: (marker: string, url: UploadUrl) => Effect.Effect<void, E>
  readonly parts: (parts: ReadonlyArray<Part>) => Effect.Effect<void, E>
  readonly concatenating: (marker: string, urls: ReadonlyArray<UploadUrl>) => Effect.Effect<void, E>
}

/** Nobody listens: a crash loses the upload. */
export const none: Recorder<never> = {
  creating: () => Effect.void,
  created: () => Effect.void,
  parts: () => Effect.void,
  concatenating: () => Effect.void
}

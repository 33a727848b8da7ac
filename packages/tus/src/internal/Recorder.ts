import * as Effect from "effect/Effect"
import type { UploadUntrusted } from "../TusError.ts"
import type { UploadUrl } from "../UploadTarget.ts"

/**
 * A part of an upload: the bytes from `start` up to, and without, `end`.
 *
 * - `Planned`: its creation was not sent, or refused.
 * - `Creating`: its creation may have been sent, with this marker.
 * - `Created`: it is at `url`.
 */
export type Part = { readonly start: bigint; readonly end: bigint } & (
  | { readonly _tag: "Planned" }
  | { readonly _tag: "Creating"; readonly marker: string }
  | { readonly _tag: "Created"; readonly marker: string; readonly url: UploadUrl }
)

/** Hears each step before it is taken, so that a crash loses none. */
export interface Recorder<E> {
  readonly creating: (marker: string) => Effect.Effect<void, E>
  readonly created: (marker: string, url: UploadUrl) => Effect.Effect<void, E>
  readonly parts: (parts: ReadonlyArray<Part>) => Effect.Effect<void, E>
  readonly concatenating: (marker: string, urls: ReadonlyArray<UploadUrl>) => Effect.Effect<void, E>
  /** The upload is never to be gone on with; told before the error is. `final` is what its parts were put together to. */
  readonly untrusted: (error: UploadUntrusted, final?: UploadUrl) => Effect.Effect<void, E>
  /** Every byte is stored. */
  readonly completed: (url: UploadUrl, length: bigint) => Effect.Effect<void, E>
}

/** Nobody listens: a crash loses the upload. */
export const none: Recorder<never> = {
  creating: () => Effect.void,
  created: () => Effect.void,
  parts: () => Effect.void,
  concatenating: () => Effect.void,
  untrusted: () => Effect.void,
  completed: () => Effect.void
}

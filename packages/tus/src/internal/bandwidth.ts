/**
 * Limits the bandwidth of all uploads of a program together.
 */
import * as Schema from "effect/Schema"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"

/**
 * - `whole`: waits until a body of this size may be sent.
 * - `stream`: cuts a body into portions, each of which waits until it may be sent. `onWait` is called before each
 *   portion, even if the portion need not wait.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly whole: (bytes: number) => Effect.Effect<void>
  readonly stream: <E>(body: Stream.Stream<Uint8Array, E>, onWait: () => void) => Stream.Stream<Uint8Array, E>
}

/**
 * The bandwidth limit in the context, which applies to the uploads in this context. By default there is no limit.
 *
 * @since 0.1.0
 * @category references
 */
export const UploadBandwidth = Context.Reference<Service | undefined>("@assembly-effect/tus/UploadBandwidth", {
  defaultValue: () => undefined
})

/**
 * A time in milliseconds. A portion is the number of bytes that may be sent in this time, but at most `largest` bytes.
 */
const interval = 100

/** The maximum size of a portion in bytes. */
const largest = 64 * 1024

const make = (bytesPerSecond: number): Service => {
  const portion = Math.max(1, Math.min(largest, Math.floor((bytesPerSecond * interval) / 1000)))
  /**
   * The time, in milliseconds, at which all bytes that passed so far will have been sent at the rate `bytesPerSecond`.
   */
  let free = -Infinity

  /**
   * Waits until this number of bytes, at most a portion, may be sent. Uploads pass in the order of their arrival. An
   * upload that is interrupted while it waits uses no bandwidth.
   */
  const pass = (bytes: number) =>
    Clock.clockWith((clock) => {
      // A monotonic clock is used, because the wall clock may be set back during an upload.
      const now = Number(clock.monotonicTimeNanosUnsafe()) / 1e6
      // Unused bandwidth counts only for the last `interval` milliseconds. So a timer that fires at most `interval` late
      // wastes no bandwidth, and a long pause permits only a short burst afterwards.
      const begin = Math.max(free, now - interval)
      const time = (bytes / bytesPerSecond) * 1000
      free = begin + time
      if (begin <= now) return Effect.void
      return Effect.onInterrupt(Effect.sleep(Math.ceil(begin - now)), () =>
        Effect.sync(() => {
          free -= time
        })
      )
    })

  return {
    whole: Effect.fnUntraced(function* (bytes) {
      for (let left = bytes; left > 0; left -= portion) yield* pass(Math.min(portion, left))
    }),
    stream: (body, onWait) =>
      Pieces.mapPieces(
        Pieces.mapPieces(body, (piece) => Effect.succeed(Bytes.cut(piece, portion))),
        (piece) =>
          Effect.suspend(() => {
            onWait()
            return Effect.as(pass(piece.length), [piece])
          })
      )
  }
}

const decode = Rules.decoder("Upload.layerBandwidth", Schema.Struct({ bytesPerSecond: Rules.whole(1) }))

/**
 * Limits the bandwidth of all uploads together to `bytesPerSecond`. The limit applies to the program to which the Layer
 * is provided.
 *
 * **Details**
 *
 * - Uploads take turns: in each turn, an upload sends at most the bytes of a tenth of a second, and at most 64 KiB. So
 *   uploads that run at the same time have about the same share. An upload in parallel parts has a share for each part.
 * - The wait for a turn does not count as a stall, and does not count towards the time limit of a request.
 * - The limit counts the bytes of the files, including those that are sent again after a failure, but not the headers
 *   of requests. After a pause, the uploads together may send the bytes of at most a fifth of a second at once.
 * - Where request bodies are not streamed (see `Upload.CanStream`), and for a small source that is sent with the
 *   creation, a request waits until all bytes of its body may be sent, and then sends the whole body at once.
 *
 * **Gotchas**
 *
 * Each Layer has a separate limit, so provide the Layer once, to the whole program. A stream that is given to
 * `Tus.create` or `Tus.append` is not limited. If `bytesPerSecond` is not a whole number of at least 1, the Layer fails
 * with `InvalidRequest`.
 *
 * @example program.pipe(Effect.provide(Upload.layerBandwidth({ bytesPerSecond: 1_000_000 })))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBandwidth = (options: { readonly bytesPerSecond: number }): Layer.Layer<never, InvalidRequest> =>
  Layer.effect(
    UploadBandwidth,
    Effect.map(decode(options), ({ bytesPerSecond }) => make(bytesPerSecond))
  )

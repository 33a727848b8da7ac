/**
 * Decides the size of the request bodies of one upload URL.
 *
 * - A platform that cannot stream sends slices, whose progress is unknown until the response. Their size follows the
 *   speed of the link.
 * - After the status 413, which a proxy in front of the service sends, the size is halved.
 * - If a server refuses a body and closes the connection meanwhile, `fetch` on Node mostly reports the closed connection
 *   instead of the response. After two cuts at the same offset, the next body is so small that it is sent completely
 *   before the connection closes, so that the response shows the reason.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"

const kibi = 1024n

/** The size of the first slice, the maximum size of the last slice, and the smallest size after the status 413. */
const small = 256n * kibi

/** A body of this size in bytes is sent completely before the server can close the connection. */
const least = 16n * kibi

/** The maximum size of a slice without `chunkSize`. */
const largestSlice = 8n * kibi * kibi

/** The intended duration of a slice in milliseconds, so that progress becomes visible about every second. */
const goal = 800

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The sizes that passed through a proxy that had refused larger bodies, for each HTTP client and origin. */
const passedSizes = new WeakMap<HttpClient.HttpClient, Map<string, { readonly size: bigint; readonly at: number }>>()

/** How long a size that passed is remembered. The limit of a proxy may be raised. */
const lifetime = Duration.toMillis("1 hour")

/**
 * Makes the sizes of the request bodies of one upload. `known` is the size that passed before at the same origin, and
 * `remember` is called with such a size.
 */
export const make = (options: {
  readonly chunkSize: number | undefined
  readonly streams: boolean
  readonly known: bigint | undefined
  readonly remember: (size: bigint) => void
}) => {
  const { chunkSize, known, remember, streams } = options
  const most = chunkSize === undefined ? undefined : BigInt(chunkSize)
  let slice = streams ? undefined : smaller(small, most ?? largestSlice)
  /** The limit after refused or cut bodies. It grows up to `ceiling`, half of what was refused or cut. */
  let limit = known
  let ceiling = known
  let cutAt = -1n
  /** The sizes that were refused with 413, in bytes. */
  const tried: Array<number> = []
  return {
    tried,

    /** The number of bytes in the next body, when `left` bytes remain. */
    next: (left: bigint): bigint => {
      const size = smaller(slice ?? most ?? left, limit ?? left)
      if (slice === undefined || left > size) return smaller(left, size)
      // A stall of the last slice is detected late, so the last slice is small.
      const last = smaller(small, size)
      return left <= last ? left : larger(left - last, left / 2n)
    },

    /** Call this function when the server has stored a whole body. */
    passed: (bytes: bigint, millis: number): void => {
      cutAt = -1n
      if (slice !== undefined && millis < goal && bytes >= slice) {
        slice = smaller(slice * 2n, most ?? largestSlice)
      } else if (slice !== undefined && millis > goal * 2) {
        slice = smaller(slice, larger(small, slice / 2n))
      }
      if (limit === undefined || bytes < limit) return
      if (limit === ceiling && tried.length > 0) remember(limit)
      limit = smaller(limit * 2n, ceiling ?? limit)
    },

    /** Call this function when a slice got no response in time. */
    stalled: (): void => {
      if (slice !== undefined) slice = larger(smaller(least, slice), slice / 2n)
    },

    /** Call this function after the status 413. Returns whether a smaller body may pass. */
    refused: (bytes: bigint): boolean => {
      tried.push(Number(bytes))
      if (bytes <= small) return false
      ceiling = larger(small, bytes / 2n)
      limit = ceiling
      return true
    },

    /**
     * Call this function when the connection was cut while a body with the bytes from `start` to `end` was sent. A single
     * cut may come from the network. After a second cut at the same offset, the server has stored no byte since then.
     */
    cut: (start: bigint, end: bigint): void => {
      if (start === cutAt) {
        ceiling = larger(least, (end - start) / 2n)
        limit = least
      }
      cutAt = start === cutAt ? -1n : start
    }
  }
}

export type BodySize = ReturnType<typeof make>

/** {@link make} for an upload at a URL. A size that passed at the same origin is known. */
export const at = (url: string, options: Pick<Parameters<typeof make>[0], "chunkSize" | "streams">) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const clock = yield* Clock.Clock
    const { origin } = new URL(url)
    const passed = passedSizes.get(client)?.get(origin)
    return make({
      ...options,
      known: passed !== undefined && clock.currentTimeMillisUnsafe() - passed.at < lifetime ? passed.size : undefined,
      remember: (size) => {
        const sizes = passedSizes.get(client) ?? new Map()
        passedSizes.set(client, sizes.set(origin, { size, at: clock.currentTimeMillisUnsafe() }))
      }
    })
  })

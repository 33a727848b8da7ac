/**
 * Sends one PATCH. Counts the bytes as they are sent, detects a stall, and distinguishes a failure of the source from a
 * failure of the network.
 */
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TusError from "../TusError.ts"
import { UploadBandwidth } from "./bandwidth.ts"
import type { SourceFailed } from "./sourceFailed.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { type Body, sendAppend } from "./create.ts"
import { hostOf } from "./host.ts"
import type { Pool } from "./filePieces.ts"
import * as Outgoing from "./outgoing.ts"
import type { Policy, RequestError } from "./policy.ts"

/**
 * The state of a running request: the number of sent bytes, and the time of the last progress. While the next bytes
 * wait because of the bandwidth limit, the time of the last progress is `Infinity`, so that the wait does not count as
 * a stall.
 */
interface Meter {
  count: bigint
  movedAt: number
  allSent: boolean
  /**
   * Fails with the cause that ended the body: the source failed, died or was interrupted, or it has a wrong number of
   * bytes.
   */
  readonly failed: Deferred.Deferred<never, SourceFailed>
}

/**
 * A stream that emits exactly `length` bytes, or fails. HTTP clients handle a short body differently: one client hangs,
 * and another ends the request silently. All clients report a failing body as a broken connection. This stream
 * therefore counts the bytes and keeps the failure. The guard of `StreamSender` lets a client read this stream only
 * once.
 */
const metered = (
  source: Stream.Stream<Uint8Array, SourceFailed>,
  length: bigint,
  meter: Meter,
  clock: Clock.Clock,
  onMove: () => void
): Stream.Stream<Uint8Array, SourceFailed> => {
  const move = () => {
    meter.movedAt = clock.currentTimeMillisUnsafe()
    onMove()
  }
  const read = Stream.suspend(() => {
    let count = 0n
    meter.allSent = false
    return Pieces.mapPieces(
      source,
      (piece) => {
        count += BigInt(piece.length)
        if (count > length) return Effect.fail(Outgoing.tooLong(length))
        if (count > meter.count) meter.count = count
        move()
        return Effect.succeed([piece])
      },
      Effect.suspend(() => {
        if (count < length) return Effect.fail(Outgoing.tooShort(count, length))
        meter.allSent = true
        move()
        return Effect.void
      })
    )
  })
  // `tapCause` runs if the source itself is interrupted, but not if the reader of the stream is interrupted.
  return Stream.transformPull(read, (pull) =>
    Effect.succeed(
      Effect.tapCause(pull, (cause) =>
        Pull.isDoneCause(cause) ? Effect.void : Deferred.failCause(meter.failed, cause as Cause.Cause<SourceFailed>)
      )
    )
  )
}

/**
 * Fails after too much time without progress. After the last byte the server may take longer, because it stores the
 * file. A limit that is too short would cause a second request while the server still processes the first request.
 */
const watch = (
  request: TusError.RequestName,
  host: string,
  meter: Meter,
  policy: Policy,
  clock: Clock.Clock
): Effect.Effect<never, TusError.Stalled> =>
  Effect.suspend(() => {
    const limit = meter.allSent ? policy.finishTimeout : policy.stallTimeout
    const most = Duration.toMillis(limit)
    const left = Math.min(most, meter.movedAt + most - clock.currentTimeMillisUnsafe())
    return left <= 0
      ? Effect.fail(new TusError.Stalled({ request, host, after: limit }))
      : Effect.flatMap(Effect.sleep(left), () => watch(request, host, meter, policy, clock))
  })

/** The result of a request, and the offset up to which bytes were given to the HTTP client. */
export interface Sent {
  readonly handed: bigint
  readonly answer: Result.Result<bigint, RequestError>
}

/**
 * Sends one body and returns the offset that the server reports. `onSent` is called with the number of sent bytes, and
 * with whether the whole body was sent. If the platform sends the body as a whole, its progress is unknown, and
 * `onSent` is not called. A source that dies or is interrupted ends the upload, because only a failure of the network
 * can be retried.
 */
export const append = (options: {
  readonly url: UploadUrl
  readonly body: Outgoing.Body
  readonly declare: bigint | undefined
  readonly checksum?: string | undefined
  readonly policy: Policy
  readonly pool: Pool | undefined
  readonly onSent: (count: bigint, all: boolean) => void
}): Effect.Effect<Sent, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { body, checksum, declare, onSent, policy, pool, url } = options
    const { bytes } = body
    const request = (sent: Body<SourceFailed>, limits: Parameters<typeof sendAppend>[2]) =>
      sendAppend(url, { offset: body.start, body: sent, length: declare, checksum }, limits)

    if (!("stream" in bytes)) {
      // The platform does not report when the last byte is sent, and the server stores the upload after the last byte.
      const { finishTimeout, stallTimeout } = policy
      const rest = body.end === body.total ? Duration.toMillis(finishTimeout) : 0
      const limit = Duration.millis(Duration.toMillis(stallTimeout) + rest)
      return { handed: body.end, answer: yield* Effect.result(request(bytes, { limit })) }
    }

    const clock = yield* Clock.Clock
    const meter: Meter = {
      count: 0n,
      movedAt: clock.currentTimeMillisUnsafe(),
      allSent: false,
      failed: Deferred.makeUnsafe()
    }
    const lent = pool?.lend(bytes.stream)
    const source = lent?.body ?? bytes.stream
    const bandwidth = yield* UploadBandwidth
    const waiting = bandwidth?.stream(source, () => {
      meter.movedAt = Infinity
    })
    const stream = metered(waiting ?? source, bytes.length, meter, clock, () => onSent(meter.count, meter.allSent))

    const stalled = Effect.suspend(() => {
      meter.movedAt = Math.max(meter.movedAt, clock.currentTimeMillisUnsafe())
      return watch("append", hostOf(url), meter, policy, clock)
    })
    const answer = yield* request({ length: bytes.length, stream }, { stalled }).pipe(
      // A failing source breaks the request. Without this race, the HTTP client would report a broken connection
      // instead of the error of the source.
      Effect.raceFirst(Deferred.await(meter.failed)),
      Effect.catch((error) =>
        Effect.flatMap(Deferred.isDone(meter.failed), (failed) =>
          failed ? Deferred.await(meter.failed) : Effect.fail<RequestError>(error)
        )
      ),
      Effect.result
    )
    const handed = body.start + meter.count
    if (Result.isSuccess(answer) && answer.success === body.end && handed === body.end) lent?.keep()
    return { handed, answer }
  })

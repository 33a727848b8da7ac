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
import type { SourceFailed } from "./source.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { type Body, sendAppend } from "./requests.ts"
import { hostOf } from "./host.ts"
import type { Pool } from "./filePieces.ts"
import * as Outgoing from "./outgoing.ts"
import type { Policy, RequestError } from "./policy.ts"

/** The result of a request, see `sendAppend`, and the offset up to which bytes were given to the HTTP client. */
export interface Sent {
  readonly handed: bigint
  readonly answer: Result.Result<{ readonly offset: bigint; readonly declaresLength: boolean }, RequestError>
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
    const bandwidth = yield* UploadBandwidth
    const { length } = bytes
    let count = 0n
    let allSent = false
    let movedAt = clock.currentTimeMillisUnsafe()
    const move = () => {
      movedAt = clock.currentTimeMillisUnsafe()
      onSent(count, allSent)
    }
    /** Fails with the cause that ended the body. HTTP clients report a failing body as a broken connection. */
    const failed = Deferred.makeUnsafe<never, SourceFailed>()
    const lent = pool?.lend(bytes.stream)
    const source = lent?.body ?? bytes.stream
    // The wait for the bandwidth limit does not count as a stall.
    const waiting = bandwidth?.stream(source, () => {
      movedAt = Infinity
    })
    // Exactly `length` bytes: after a short body one client hangs, and another ends the request silently. The guard of
    // `StreamSender` lets a client read this stream only once.
    const exact = Pieces.mapPieces(
      waiting ?? source,
      (piece) => {
        const next = count + BigInt(piece.length)
        if (next > length) return Effect.fail(Outgoing.tooLong(length))
        count = next
        move()
        return Effect.succeed([piece])
      },
      Effect.suspend(() => {
        if (count < length) return Effect.fail(Outgoing.tooShort(count, length))
        allSent = true
        move()
        return Effect.void
      })
    )
    // `tapCause` runs if the source itself is interrupted, but not if the reader of the stream is interrupted.
    const stream = Stream.transformPull(exact, (pull) =>
      Effect.succeed(
        Effect.tapCause(pull, (cause) =>
          Pull.isDoneCause(cause) ? Effect.void : Deferred.failCause(failed, cause as Cause.Cause<SourceFailed>)
        )
      )
    )

    /**
     * Fails after too much time without progress. After the last byte the server may take longer, because it stores the
     * file. A limit that is too short would cause a second request while the server still processes the first request.
     */
    const watch: Effect.Effect<never, TusError.Stalled> = Effect.suspend(() => {
      const after = allSent ? policy.finishTimeout : policy.stallTimeout
      const most = Duration.toMillis(after)
      const left = Math.min(most, movedAt + most - clock.currentTimeMillisUnsafe())
      return left <= 0
        ? Effect.fail(new TusError.Stalled({ request: "append", host: hostOf(url), after }))
        : Effect.andThen(Effect.sleep(left), watch)
    })

    const stalled = Effect.suspend(() => {
      movedAt = Math.max(movedAt, clock.currentTimeMillisUnsafe())
      return watch
    })
    const answer = yield* request({ length, stream }, { stalled }).pipe(
      // Without this race, the HTTP client would report a broken connection instead of the error of the source.
      Effect.raceFirst(Deferred.await(failed)),
      Effect.catch((error): Effect.Effect<never, RequestError> =>
        Deferred.isDoneUnsafe(failed) ? Deferred.await(failed) : Effect.fail(error)
      ),
      Effect.result
    )
    const handed = body.start + count
    if (Result.isSuccess(answer) && answer.success.offset === body.end && handed === body.end) lent?.keep()
    return { handed, answer }
  })

/**
 * One PATCH: the bytes counted as they leave, watched for a stall, and their own failure told from the network's.
 */
import * as Transport from "@assembly-effect/api/unstable/Transport"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as PieceMemory from "../PieceMemory.ts"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import type { SourceFailed } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { hostOf } from "./host.ts"
import * as FilePieces from "./filePieces.ts"
import { tooLong, tooShort, type Body } from "./outgoing.ts"
import type { Policy, RequestError } from "./policy.ts"
import * as Slices from "./slices.ts"
import { inTime } from "./timeout.ts"

/** What is known of a request on its way: bytes that left, and when something last moved. */
interface Meter {
  count: bigint
  movedAt: number
  allSent: boolean
  /** The end of the source itself, when it fails, dies or is interrupted. */
  readonly failed: Deferred.Deferred<never, SourceFailed>
}

/**
 * A stream that emits exactly `length` bytes, or fails. HTTP clients differ on a body that is too short, one hangs and
 * one ends in silence, and all report a body that fails as a broken connection: so the count is kept here, and the
 * failure kept apart. A client may read a body more than once; each time it is the same stream.
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
    return Transport.mapPieces(
      source,
      (piece) => {
        count += BigInt(piece.length)
        if (count > length) return Effect.fail(tooLong(length))
        if (count > meter.count) meter.count = count
        move()
        return Effect.succeed([piece])
      },
      Effect.suspend(() => {
        if (count < length) return Effect.fail(tooShort(count, length))
        meter.allSent = true
        move()
        return Effect.void
      })
    )
  })
  // A reader that leaves interrupts from outside, which is not seen here: only what the source does itself is.
  return Stream.tapCause(read, (cause) => Deferred.failCause(meter.failed, cause))
}

/**
 * Fails when nothing moved for too long. After the last byte the server may take longer: it stores what it has, and a
 * second request would make it do so twice.
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
    const left = meter.movedAt + Duration.toMillis(limit) - clock.currentTimeMillisUnsafe()
    return left <= 0
      ? Effect.fail(new TusError.Stalled({ request, host, after: limit }))
      : Effect.flatMap(Effect.sleep(left), () => watch(request, host, meter, policy, clock))
  })

/** What became of a request: its end, and the offset up to which bytes were handed to the HTTP client. */
export interface Sent {
  readonly handed: bigint
  readonly answer: Result.Result<bigint, RequestError>
}

/**
 * Sends one body and answers the offset that the server tells. `onSent` hears how many bytes of it have left, and
 * whether they are all. Of a body that is sent as a whole nobody knows: it is heard of when it is answered. A source
 * that dies or is interrupted ends the upload; only what the network did can heal.
 */
export const append = (options: {
  readonly url: UploadUrl
  readonly body: Body
  readonly declare: bigint | undefined
  readonly checksum?: string | undefined
  readonly policy: Policy
  readonly pool: FilePieces.Pool
  readonly slices: Slices.SliceSize | undefined
  readonly onSent: (count: bigint, all: boolean) => void
}): Effect.Effect<Sent, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { body, checksum, declare, onSent, policy, pool, slices, url } = options
    const { bytes } = body
    const request = (sent: Tus.Body<SourceFailed>) =>
      Tus.append(url, { offset: body.start, body: sent, length: declare, checksum })

    if (bytes instanceof Uint8Array || !("length" in bytes)) {
      const sent = inTime({ request: "append", url }, Slices.limit(policy, body.end === body.total), request(bytes))
      const answer = yield* Effect.result(
        slices === undefined ? sent : slices.from(sent, body.end - body.start, policy)
      )
      return { handed: body.end, answer }
    }

    const clock = yield* Clock.Clock
    const meter: Meter = {
      count: 0n,
      movedAt: clock.currentTimeMillisUnsafe(),
      allSent: false,
      failed: Deferred.makeUnsafe()
    }
    const memory = PieceMemory.isRegistered(yield* HttpClient.HttpClient) ? pool.lend() : undefined
    const stream = metered(
      Stream.provideService(bytes.stream, FilePieces.MemoryRef, memory),
      bytes.length,
      meter,
      clock,
      () => onSent(meter.count, meter.allSent)
    )

    const answer = yield* Transport.withLimitFromDeparture(
      request({ length: bytes.length, stream }),
      Effect.suspend(() => {
        meter.movedAt = clock.currentTimeMillisUnsafe()
        return watch("append", hostOf(url), meter, policy, clock)
      })
    ).pipe(
      // A source that fails breaks the request; the HTTP client would report that as a broken connection.
      Effect.raceFirst(Deferred.await(meter.failed)),
      Effect.catch((error) =>
        Effect.flatMap(Deferred.isDone(meter.failed), (failed) =>
          failed ? Deferred.await(meter.failed) : Effect.fail<RequestError>(error)
        )
      ),
      Effect.result
    )
    const handed = body.start + meter.count
    const isWhole = Result.isSuccess(answer) && answer.success === body.end && handed === body.end
    if (memory !== undefined && isWhole) pool.keep(memory)
    return { handed, answer }
  })

/**
 * What one upload shares from its beginning to its end, and the options it was given.
 */
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as SchemaParser from "effect/SchemaParser"
import { UploadMismatch } from "../TusError.ts"
import type { UploadError } from "../UploadError.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Checksum from "./Checksum.ts"
import type { Emit } from "./Events.ts"
import type { Policy, RequestError } from "./Policy.ts"
import type { Recorder } from "./Recorder.ts"
import * as Receipts from "./Receipts.ts"
import type { Job } from "./Run.ts"
import * as Window from "./Window.ts"

/**
 * - `metadata`: `filename` and `fieldname`, and whatever else the Assembly's Steps want to know.
 * - `maxRetries`: how many failures in a row are healed, 8 by default; progress refills it.
 * - `retryDelay`: the pause after the first failure, 500 ms by default; it doubles up to 30 seconds, with jitter.
 * - `stallTimeout`: without any movement for so long a request has failed, 30 seconds by default.
 * - `finishTimeout`: the same after the last byte, when the server stores the upload; 10 minutes by default.
 * - `maxWait`: the longest wait that a server may ask for, 1 hour by default; beyond it the upload fails with the error
 *   that asked, which tells the wait.
 * - `chunkSize`: the most that one request sends, in bytes. By default a source that can be read again goes in one
 *   request, and a one-shot stream keeps a window of 8 MiB.
 * - `checksum`: each body is sent with its checksum where the server offers this algorithm, which is asked first; bytes
 *   that changed on the way (460) are sent again. A body is in memory for it, so that `chunkSize` is 8 MiB by default,
 *   and small sources do not come with the creation. Where the server does not offer it, nothing is checked:
 *   `Tus.discover` tells. None by default.
 */
export interface Options {
  readonly metadata: { readonly filename: string; readonly fieldname: string } & Readonly<Record<string, string | null>>
  readonly maxRetries?: number | undefined
  readonly retryDelay?: Duration.Input | undefined
  readonly stallTimeout?: Duration.Input | undefined
  readonly finishTimeout?: Duration.Input | undefined
  readonly maxWait?: Duration.Input | undefined
  readonly chunkSize?: number | undefined
  readonly checksum?: Checksum.Algorithm | undefined
}

export type { UploadError }

/** What one upload shares from its beginning to its end. */
export interface Session<E> {
  readonly target: UploadTarget
  readonly metadata: Options["metadata"]
  readonly chunkSize: number | undefined
  readonly streams: boolean
  readonly seal: Checksum.Seal
  /** Whether bytes may come with the creation, which has no checksum. */
  readonly sendsAlong: boolean
  readonly policy: Policy
  readonly emit: Emit
  readonly recorder: Recorder<E>
}

/** Whether the platform can send a body while it is read. Some browsers cannot. */
const detectStreams = (): boolean => {
  let read = false
  try {
    const request = new Request("https://example.com", {
      method: "POST",
      body: new ReadableStream(),
      get duplex() {
        read = true
        return "half"
      }
    } as RequestInit)
    return (read || request.body !== null) && !request.headers.has("content-type")
  } catch {
    return false
  }
}

/**
 * Whether request bodies can be streamed here; found out once. Where they cannot, a source is sent in slices of 256 KiB,
 * which grow up to `chunkSize` (8 MiB by default) while they pass fast, and are halved after a stall.
 */
export const CanStream = Context.Reference<boolean>("@assembly-effect/tus/CanStream", { defaultValue: detectStreams })

const defaultPolicy: Policy = {
  maxRetries: 8,
  retryDelay: Duration.millis(500),
  stallTimeout: Duration.seconds(30),
  finishTimeout: Duration.minutes(10),
  maxWait: Duration.hours(1)
}

const toPolicy = (options: Options): Policy => {
  const duration = (name: "retryDelay" | "stallTimeout" | "finishTimeout" | "maxWait") =>
    options[name] === undefined ? defaultPolicy[name] : Duration.fromInputUnsafe(options[name])
  return {
    maxRetries: options.maxRetries ?? defaultPolicy.maxRetries,
    retryDelay: duration("retryDelay"),
    stallTimeout: duration("stallTimeout"),
    finishTimeout: duration("finishTimeout"),
    maxWait: duration("maxWait")
  }
}

/** A session for these options. */
export const make = <E>(
  target: UploadTarget,
  options: Options,
  emit: Emit,
  recorder: Recorder<E>
): Effect.Effect<Session<E>, RequestError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const streams = yield* CanStream
    const policy = toPolicy(options)
    const { checksum, chunkSize, metadata } = options
    const common = { target, metadata, streams, policy, emit, recorder }
    return checksum !== undefined && (yield* Checksum.isOffered(target, checksum, policy))
      ? {
          ...common,
          chunkSize: chunkSize ?? Window.defaultSize,
          seal: Checksum.sealed(checksum, streams),
          sendsAlong: false
        }
      : { ...common, chunkSize, seal: Checksum.unsealed, sendsAlong: true }
  })

/** An upload that was begun just now is the one that was begun. */
export const trusted: Job["verify"] = () => Effect.void

const decodeMetadata = SchemaParser.decodeUnknownEffect(TusUpload.Metadata)

/** A key without a value and one with an empty value: servers tell the one as the other. */
const textOf = (value: string | null) => value ?? ""

/**
 * Before an upload of an earlier time gets more bytes: its metadata is what was sent then, as far as the server tells.
 * The creation sets `assembly_url` itself, whatever the metadata says. The values are not told.
 */
export const verifyMetadata =
  (metadata: Readonly<Record<string, string | null>>, marker: string | undefined): Job["verify"] =>
  (found) => {
    if (found.metadata === undefined) return Effect.void
    const { assembly_url: _, ...sent } = metadata
    const expected: Readonly<Record<string, string | null>> = {
      ...sent,
      ...(marker === undefined ? undefined : { [Receipts.markerKey]: marker })
    }
    const differs = (field: string) =>
      Effect.fail(
        new UploadMismatch({ field: "upload-metadata", expected: `the ${field} it was created with`, found: "another" })
      )
    return decodeMetadata(found.metadata).pipe(
      Effect.matchEffect({
        onFailure: () => differs("metadata"),
        onSuccess: (told: Readonly<Record<string, string | null>>) => {
          const key = Object.entries(expected).find(
            ([name, value]) => !Object.hasOwn(told, name) || textOf(told[name] ?? null) !== textOf(value)
          )?.[0]
          return key === undefined ? Effect.void : differs(key)
        }
      })
    )
  }

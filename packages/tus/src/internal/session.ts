/**
 * The session of one upload: its target, its options, and the store of its state.
 */
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import { UploadMismatch } from "../TusError.ts"
import type { Options as UploadOptions } from "../Upload.ts"
import type { UploadError } from "../UploadError.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Checksum from "./checksum.ts"
import type { Emit } from "./events.ts"
import { type Policy, type RequestError, retryPolicy } from "./policy.ts"
import * as Receipts from "./receipts.ts"
import type { Job } from "./run.ts"
import type { StateStore } from "./stateStore.ts"
import * as Window from "./window.ts"

/** The options that apply to each upload URL of an upload. */
export type Options = Omit<UploadOptions, "parallel" | "progressInterval">

export type { UploadError }

/** The values that all steps of one upload share. */
export interface Session<E> {
  readonly target: UploadTarget
  readonly metadata: Options["metadata"]
  readonly chunkSize: number | undefined
  readonly streams: boolean
  readonly seal: Checksum.Seal
  /**
   * Whether the creation may contain bytes of the upload. `sendsAlong` is false with checksums, because a creation
   * request has no checksum.
   */
  readonly sendsAlong: boolean
  readonly policy: Policy
  readonly emit: Emit
  readonly store: StateStore<E>
}

/**
 * Whether this code runs in a page or in a worker of a browser. The HTML standard defines this value of `appCodeName`,
 * and no other runtime has it.
 */
const isPage = (): boolean =>
  typeof navigator === "object" && "appCodeName" in navigator && navigator.appCodeName === "Mozilla"

/** Whether `fetch` accepts a stream as a request body. */
const takesStreams = (): boolean => {
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
 * Whether request bodies are streamed. The default is detected once. Without streaming, a source is sent in slices. The
 * first slice has at most 256 KiB. The slices grow up to `chunkSize` (8 MiB by default) while a larger slice would take
 * less than a second, or hardly longer than the last slice.
 *
 * **Details**
 *
 * By default, a page or a worker of a browser does not stream, for two reasons. Over HTTP/1.1, even browsers that
 * support streaming refuse a streamed body and report a broken connection. No browser reports how many bytes of a
 * streamed body were sent. In a page, set `CanStream` to `true` only if all browsers of its users support streaming,
 * and the server supports HTTP/2 or HTTP/3.
 *
 * @since 0.1.0
 * @category references
 */
export const CanStream = Context.Reference<boolean>("@assembly-effect/tus/CanStream", {
  defaultValue: () => !isPage() && takesStreams()
})

const toPolicy = (options: Options): Effect.Effect<Policy> =>
  Effect.map(RetryPolicy.RetryPolicy, (said) => {
    const retryDelay = Duration.fromInputUnsafe(options.retryDelay ?? 500)
    return {
      retry: retryPolicy(said, { ...options, retryDelay }),
      retryDelay,
      stallTimeout: Duration.fromInputUnsafe(options.stallTimeout ?? Duration.seconds(30)),
      finishTimeout: Duration.fromInputUnsafe(options.finishTimeout ?? Duration.minutes(10))
    }
  })

/** Makes a session. If the server does not offer the requested checksum algorithm, the session has no checksums. */
export const make = <E>(
  target: UploadTarget,
  options: Options,
  emit: Emit,
  store: StateStore<E>
): Effect.Effect<Session<E>, RequestError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const streams = yield* CanStream
    const policy = yield* toPolicy(options)
    const { checksum, chunkSize, metadata } = options
    const common = { target, metadata, streams, policy, emit, store }
    return checksum !== undefined && (yield* Checksum.isOffered(target, checksum, policy))
      ? {
          ...common,
          chunkSize: chunkSize ?? Window.defaultSize,
          seal: Checksum.sealed(checksum, streams),
          sendsAlong: false
        }
      : { ...common, chunkSize, seal: Checksum.unsealed, sendsAlong: true }
  })

/** The check of an upload that this process created. It compares nothing. */
export const trusted: Job["verify"] = () => Effect.void

/**
 * The canonical Base64 of each value in a header `upload-metadata`. A missing value is the empty text, because some
 * servers do not distinguish a key without a value from a key with an empty value.
 */
const reported = (header: string): ReadonlyArray<readonly [key: string, value: string | undefined]> =>
  header.split(",").map((entry) => {
    const [key = "", ...value] = entry.trim().split(" ")
    return [key, Result.getOrUndefined(Result.map(Base64.decode(value.join(" ")), Base64.encode))]
  })

/**
 * The check of an upload that an earlier process created. If the server reports metadata, it must contain the entries
 * of the creation before more bytes are sent. Entries that others have added are ignored. `assembly_url` is not
 * compared, because the creation sets its value from the target. The error names the key that differs, without its
 * values.
 */
export const verifyMetadata =
  (metadata: Readonly<Record<string, string | null>>, marker: string | undefined): Job["verify"] =>
  (found) => {
    if (found.metadata === undefined) return Effect.void
    const { assembly_url: _, ...sent } = metadata
    const expected = { ...sent, ...(marker === undefined ? undefined : { [Receipts.markerKey]: marker }) }
    const entries = reported(found.metadata)
    const differs = ([name, value]: readonly [string, string | null]) => {
      const told = entries.filter(([key]) => key === name)
      return told.length !== 1 || told[0]?.[1] !== Base64.encode(value ?? "")
    }
    const key = Object.entries(expected).find(differs)?.[0]
    return key === undefined
      ? Effect.void
      : Effect.fail(
          new UploadMismatch({ field: "upload-metadata", expected: `the ${key} of the creation`, found: "another" })
        )
  }

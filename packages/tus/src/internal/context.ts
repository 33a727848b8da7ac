/**
 * The context of the engine, made from the options of an upload.
 */
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Checksum from "./checksum.ts"
import type { Emit } from "./events.ts"
import * as Options from "./options.ts"
import * as Policy from "./policy.ts"
import type { UploadSource } from "./source.ts"
import type { StateStore } from "./uploadState.ts"
import { defaultSize } from "./outgoing.ts"

/**
 * The context of the engine: what all steps of one upload share.
 *
 * - `sendsAlong`: whether the creation may contain bytes of the upload. `sendsAlong` is false with checksums, because a
 *   creation request has no checksum.
 * - `metadataHeader`: see `Options.metadataHeader`.
 * - `concurrency`: the number of parts that are sent in parallel.
 */
export interface Upload<E> {
  readonly target: UploadTarget
  readonly source: UploadSource
  readonly metadataHeader: string
  readonly chunkSize: number | undefined
  readonly streams: boolean
  readonly seal: Checksum.Seal
  readonly sendsAlong: boolean
  readonly concurrency: number
  readonly policy: Policy.Policy
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

type Making<E> = Effect.Effect<Upload<E>, Policy.RequestError | InvalidRequest, HttpClient.HttpClient>

/**
 * Makes the context. If the server does not offer the requested checksum algorithm, no checksums are sent. `header` is
 * the metadata as a header, if it is known.
 */
export const make = <E>(
  { emit, options, source, target }: Options.Given,
  store: StateStore<E>,
  header?: string
): Making<E> =>
  Effect.contextWith((context: Context.Context<HttpClient.HttpClient>): Making<E> => {
    const streams = Context.get(context, CanStream)
    const policy = Policy.make(Context.get(context, RetryPolicy.RetryPolicy), options)
    const { checksum, chunkSize, metadata, parallel: concurrency = 1 } = options
    const encoded = header === undefined ? Options.metadataHeader(metadata) : Result.succeed(header)
    if (Result.isFailure(encoded)) {
      return Effect.fail(new InvalidRequest({ operation: "Upload", issues: encoded.failure }))
    }
    const shared = { target, source, metadataHeader: encoded.success, streams, concurrency, policy, emit, store }
    const plain = { ...shared, chunkSize, seal: Checksum.unsealed, sendsAlong: true }
    if (checksum === undefined) return Effect.succeed(plain)
    const size = chunkSize ?? defaultSize
    const sealed = { ...shared, chunkSize: size, seal: Checksum.sealed(checksum, streams), sendsAlong: false }
    return Effect.map(Checksum.isOffered(target, checksum, policy, emit), (isOffered) => (isOffered ? sealed : plain))
  })

/**
 * A route that receives a file from a user of the application, and streams the file into an Assembly.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Body from "./internal/body.ts"
import * as Earlier from "./internal/earlier.ts"
import * as FileForm from "./internal/fileForm.ts"
import * as Origin from "./internal/origin.ts"
import * as Respond from "./internal/respond.ts"
import * as UploadProblem from "./internal/uploadProblem.ts"
import * as Watchers from "./internal/watchers.ts"
import * as Refusal from "./Refusal.ts"

/**
 * The file of a request, as the user describes it. The route checks `uploadId` and `fields`: `contentType` may be wrong,
 * and `filename` may be a path.
 *
 * - `fields`: the form fields before the file, decoded by the schema `fields` of the {@link Options}. Without a schema,
 *   the texts that the user sent.
 *
 * @since 0.1.0
 * @category models
 */
export interface UserFile<Fields = Readonly<Record<string, string>>> {
  readonly uploadId: string
  readonly filename: string
  readonly contentType: string
  readonly fields: Fields
}

/**
 * What a policy permits.
 *
 * - `params`: the params of the Assembly. By default the route computes the id of the Assembly from the id of the upload
 *   and the Auth Secret, so that no file is stored twice, whichever process receives it. With an `assemblyId`, the
 *   application knows the id before the Assembly exists. Then an upload that failed cannot be sent again
 *   (`UploadExists`), because the service takes the id of an Assembly once.
 * - `maxBytes`: the maximum size of the file.
 * - `filename`: the name of the file in the Assembly. By default this is the name that the user sent.
 * - `wait`: whether the answer is sent only after the Assembly has completed. By default the answer is sent when the
 *   last byte is stored, and a notification can report the result of the Assembly (`notifyUrl` in `params`; see
 *   `Webhooks`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">
  readonly maxBytes: number
  readonly filename?: string | undefined
  readonly wait?: boolean | undefined
}

const Settings = Schema.Struct({
  path: Schema.optional(Rules.path),
  origins: Schema.optional(Schema.Array(Origin.Origin)),
  maxUploads: Schema.optional(Rules.whole(1)),
  maxWatchers: Schema.optional(Rules.whole(1)),
  receiveTimeout: Schema.optional(Rules.duration),
  idleTimeout: Schema.optional(Rules.duration),
  timeout: Schema.optional(Rules.duration),
  chunkSize: Schema.optional(Rules.whole(1)),
  progressInterval: Schema.optional(Rules.pause)
})

/**
 * A value that breaks its rule fails with `InvalidRequest`.
 *
 * - `path`: the path of the route, `/assembly-uploads` by default. The path of an upload is `<path>/<id>`. The page
 *   chooses the id; a `POST` to `<path>` gets a new one.
 * - `origins`: other origins whose pages may use the route, such as `https://app.example.com`, without a path. By
 *   default only pages of the same origin may use the route.
 * - `maxUploads`: the maximum number of running uploads that the policy has permitted, 64 by default. Another upload is
 *   answered with 503. At most `4 * maxUploads` other requests may be arriving or waiting for the policy.
 * - `maxWatchers`: the maximum number of pages that watch uploads, 1024 by default.
 * - `receiveTimeout`: how long the part of the form before the file may take to arrive, 10 seconds by default.
 * - `idleTimeout`: how long the user may send nothing, 30 seconds by default.
 * - `timeout`: how long an upload may take until its answer, 1 hour by default.
 * - `chunkSize`: the maximum size of one request to the service in bytes, 4 MiB by default. Each upload holds about
 *   this number of bytes in memory.
 * - `progressInterval`: the minimum time between two `Progress` events, 250 milliseconds by default. A delayed
 *   `Progress` is sent earlier if another event follows.
 * - `policy`: decides for each file into which Assembly it is uploaded, or refuses the file. The policy runs before the
 *   bytes of the file are read.
 * - `fields`: the schema of the form fields before the file. Fields that break it are refused with `InvalidInput` before
 *   the policy runs.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<R, Fields = Readonly<Record<string, string>>> extends Schema.Codec.Encoded<typeof Settings> {
  readonly policy: (
    file: UserFile<Fields>,
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Grant, Refusal.PolicyRefusal, R>
  readonly fields?: Schema.Codec<Fields, unknown> | undefined
}

const bytesOfFile = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The answer to an upload: its id and the size of the file in bytes. With `wait: true` in the `Grant`, `status` is the
 * Status of the completed Assembly, without the ids and URLs that grant access to the Assembly. The URLs of files in
 * `uploads` and `results` stay in the Status.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Uploaded = Schema.Struct({
  uploadId: Schema.String,
  bytes: bytesOfFile,
  status: Schema.optionalKey(AssemblyUploadEvent.PublicStatus)
})
/**
 * @since 0.1.0
 * @category models
 */
export type Uploaded = typeof Uploaded.Type

/**
 * The last event of an upload that failed. `description` is the same text as in the answer to the upload, or "The upload
 * was canceled." after an interruption.
 */
const Failed = Schema.TaggedStruct("Failed", { description: Schema.String })

/**
 * The last event of a successful upload without `wait: true` in the `Grant`: the service has stored the whole file.
 */
const Stored = Schema.TaggedStruct("Stored", { bytes: bytesOfFile })

/**
 * An event of an upload, without the ids and URLs that grant access to the Assembly or to the tus upload. The last
 * event of an upload is `Stored`, `Completed` or `Failed`.
 *
 * @since 0.1.0
 * @category schemas
 */
const Event = Schema.Union([AssemblyUploadEvent.Public, Stored, Failed])
/**
 * @since 0.1.0
 * @category models
 */
type Event = typeof Event.Type

/**
 * The id of an upload, which the page chooses at random, for example with `crypto.randomUUID()`. Anybody who knows
 * the id can watch the upload, and, if the policy permits it, send it again: before the file is stored, this replaces the
 * upload, and after it, the answer is that of the stored file.
 *
 * @since 0.1.0
 * @category schemas
 */
const UploadId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{16,64}$/u, { expected: "16 to 64 letters, digits, - and _" })
)

const defaultPath = "/assembly-uploads"

const decode = Rules.decoder("PassThrough", Settings)
/** The rules of the data in a `Grant`, except its `params`, which the `AssemblyClient` checks. */
const GrantData = Schema.Struct({
  maxBytes: Rules.whole(0),
  filename: Schema.optional(Schema.String),
  wait: Schema.optional(Schema.Boolean)
})
const decodeGrant = Rules.decoder("PassThrough: the Grant of the policy", GrantData)

const decodeUploadId = Schema.decodeUnknownEffect(UploadId)

/** The id of an upload in the path of a request. A path without an id gets a new one. */
const uploadIdOf = (random: SecureRandom.SecureRandom["Service"]) =>
  Effect.flatMap(HttpRouter.params, ({ uploadId }) =>
    uploadId === undefined
      ? random.uuidV4()
      : Effect.mapError(
          decodeUploadId(uploadId),
          () => new Refusal.BodyMalformed({ description: "The id of an upload has 16 to 64 letters, digits, - and _." })
        )
  )

const exists = (description: string) => new Refusal.UploadExists({ description })

/** Whether the service has refused to create an Assembly, because an Assembly with its id exists. */
const isTaken = (error: { readonly _tag: string; readonly status?: number | undefined }): boolean =>
  error.status === 409

const encodeUploaded = Schema.encodeEffect(Schema.toCodecJson(Uploaded))
const encodeEvent = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(Event)))

/** An event as JSON text. The encoding of an `Event` never fails. */
const toText = (event: Event) => Effect.orDie(encodeEvent(event))

const seenBy = ({ headers }: HttpServerRequest.HttpServerRequest): number => {
  const seen = Number(headers["last-event-id"] ?? 0)
  return Number.isSafeInteger(seen) && seen > 0 ? seen : 0
}

/** The text for the watchers of an upload that failed. It does not describe a defect of the application. */
const problemOf = (cause: Cause.Cause<{ readonly description: string }>): string => {
  const error = Cause.findErrorOption(cause)
  if (Option.isSome(error)) return error.value.description
  return Cause.hasDies(cause) ? Respond.failed.description : "The upload was canceled."
}

/**
 * A comment of Server-Sent Events every 15 seconds. A proxy may close a connection without data, so these comments keep
 * the connection open while no event is sent.
 */
const keepAlive = Stream.map(Stream.tick("15 seconds"), () => ":\n\n")

/**
 * Makes the functions that answer the two requests of an upload, for routes of your own or for the handlers of
 * {@link group}. `upload` receives the file, and `watch` streams the events. The path of `watch` contains `:uploadId`; an
 * `upload` whose path does not contain it gets a new id.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(
  function* <R, Fields = Readonly<Record<string, string>>>(options: Omit<Options<R, Fields>, "path">) {
    const {
      chunkSize = 4 * 1024 * 1024,
      idleTimeout = "30 seconds",
      maxUploads = 64,
      maxWatchers = 1024,
      origins = [],
      progressInterval = "250 millis",
      receiveTimeout = "10 seconds",
      timeout = "1 hour"
    } = yield* decode(options)
    const { policy } = options
    const decodeFields =
      options.fields === undefined
        ? // Without a schema, the type `Fields` is that of the texts.
          (texts: Readonly<Record<string, string>>) => Effect.succeed(texts as Fields)
        : Body.decoded(options.fields, "Expected before the file")
    const random = yield* SecureRandom.SecureRandom
    const idOf = yield* Earlier.assemblyIds
    const services = Context.make(AssemblyUpload.AssemblyUpload, yield* AssemblyUpload.AssemblyUpload).pipe(
      Context.add(AssemblyClient, yield* AssemblyClient)
    )
    const uploads = yield* Watchers.make<string>({
      arriving: 4 * maxUploads,
      uploads: maxUploads,
      watchers: maxWatchers
    })

    /**
     * Streams the file into a new Assembly. If the upload of the file fails, or if `pass` is interrupted, the Assembly is
     * canceled.
     */
    const pass = (
      form: FileForm.FileForm,
      grant: Grant,
      assemblyId: Assembly.AssemblyId,
      tell: (event: Event) => Effect.Effect<void>
    ) =>
      Effect.suspend(() => {
        let problem: Body.Problem | undefined
        let stored: Omit<Uploaded, "uploadId"> = { bytes: 0 }
        const content = Stream.tapError(form.content(grant.maxBytes), (error) =>
          Effect.sync(() => {
            problem = error
          })
        )
        const events = AssemblyUpload.events({
          params: { ...grant.params, assemblyId },
          files: [{ source: UploadSource.fromStream(content), filename: grant.filename ?? form.filename }],
          cancelOnInterrupt: true,
          upload: { chunkSize },
          progressInterval,
          ...(grant.wait === true ? {} : { wait: false as const })
        })
        return Stream.runForEach(events, (event) => {
          if (event._tag === "FileCompleted") stored = { bytes: Number(event.length) }
          if (event._tag !== "Completed") return tell(event)
          stored = { ...stored, status: event.status }
          return Effect.void
        }).pipe(
          Effect.map(() => stored),
          // If the body of the user's request failed, this failure caused the failure of the upload. The answer then
          // describes the problem of the body, which is more useful than the error of the upload.
          Effect.mapError((error) => problem ?? error)
        )
      })

    /** The answer for a file that an earlier request has stored. The form must have the same bytes. */
    const known = Effect.fnUntraced(function* (form: FileForm.FileForm, grant: Grant, found: Assembly.Status) {
      const md5 = yield* Md5.make
      let size = 0
      yield* Stream.runForEach(form.content(grant.maxBytes), (piece) =>
        Effect.sync(() => {
          size += piece.length
          md5.add(piece)
        })
      )
      const status = grant.wait === true ? yield* Assemblies.awaitCompletion(found.assembly_id) : undefined
      const stored = Earlier.fileOf(status ?? found)
      const isOther = size !== stored.bytes || (stored.md5 !== undefined && stored.md5 !== md5.hex())
      if (isOther) return yield* exists("Another file is stored with this id.")
      return { bytes: size, ...(status === undefined ? undefined : { status }) }
    })

    /** Stores the file in the one Assembly of the upload, unless an earlier request has stored it there. */
    const store = Effect.fnUntraced(function* (
      form: FileForm.FileForm,
      uploadId: string,
      grant: Grant,
      tell: (event: Event) => Effect.Effect<void>
    ) {
      const chosen = grant.params.assemblyId
      for (let attempt = 0; attempt < Earlier.most; attempt++) {
        const assemblyId = chosen ?? (yield* idOf(uploadId, attempt))
        // The service has refused the id before it took a byte, so the form can still be read.
        const stored = yield* Effect.catchIf(pass(form, grant, assemblyId, tell), isTaken, () => Effect.undefined)
        if (stored !== undefined) return stored
        const earlier = yield* chosen === undefined ? Earlier.replace(assemblyId) : Earlier.read(assemblyId)
        if (earlier._tag === "Stored") return yield* known(form, grant, earlier.status)
        if (chosen !== undefined) return yield* exists("The Assembly of this upload exists already, without its file.")
      }
      return yield* exists("This upload has failed too often. Send it with another id.")
    })

    const receive = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      uploadId: string,
      permit: Effect.Effect<void, Refusal.Busy>,
      tell: (event: Event) => Effect.Effect<void>
    ) {
      const form = yield* FileForm.read(request, idleTimeout).pipe(
        Effect.timeoutOrElse({
          duration: receiveTimeout,
          orElse: () => Effect.fail(new Refusal.BodyTooSlow({ description: "The form took too long to arrive." }))
        })
      )
      const { contentType, filename } = form
      const grant = yield* policy(
        { uploadId, filename, contentType, fields: yield* decodeFields(form.fields) },
        request
      )
      yield* Effect.orDie(decodeGrant(grant))
      if (FileForm.announcesMore(request, grant.maxBytes)) {
        return yield* new Refusal.BodyTooLarge({ description: `The file has more than ${grant.maxBytes} bytes.` })
      }
      yield* permit
      return yield* store(form, uploadId, grant, tell).pipe(
        Effect.provide(services),
        Effect.catch((error): Effect.Effect<never, Body.Problem | Refusal.UploadExists | Refusal.UploadFailed> =>
          HttpServerRespondable.isRespondable(error) ? Effect.fail(error) : UploadProblem.of(error, grant)
        )
      )
    })

    const upload = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* Origin.check(request, origins)
      const uploadId = yield* uploadIdOf(random)
      const started = yield* uploads.start(uploadId)
      const tell = (event: Event) => Effect.flatMap(toText(event), started.tell)
      const end = (event: Event) => Effect.flatMap(toText(event), started.end)
      const stored = yield* receive(request, uploadId, started.permit, tell).pipe(
        Effect.timeoutOrElse({
          duration: timeout,
          orElse: () => Effect.fail(new Refusal.BodyTooSlow({ description: "The upload took too long." }))
        }),
        Effect.onExit((exit) => {
          if (Exit.isFailure(exit)) return end({ _tag: "Failed", description: problemOf(exit.cause) })
          const { bytes, status } = exit.value
          return end(status === undefined ? { _tag: "Stored", bytes } : { _tag: "Completed", status })
        })
      )
      return { uploadId, ...stored } satisfies Uploaded
    }, Effect.scoped)

    const watch = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* Origin.check(request, origins)
      const uploadId = yield* uploadIdOf(random)
      const seen = seenBy(request)
      // After the last event, an `EventSource` connects again. The status 204 stops the `EventSource`.
      if (uploads.hasSeen(uploadId, seen)) return HttpServerResponse.empty({ status: 204 })
      const events = yield* uploads.watch(uploadId, seen)
      return HttpServerResponse.stream(
        Stream.map(events, ({ event, number }) => `id: ${number}\ndata: ${event}\n\n`).pipe(
          Stream.merge(keepAlive, { haltStrategy: "left" }),
          Stream.encodeText
        ),
        { contentType: "text/event-stream", headers: { "cache-control": "no-store", "x-accel-buffering": "no" } }
      )
    })

    return {
      upload: (request: HttpServerRequest.HttpServerRequest) =>
        Respond.to(Effect.flatMap(upload(request), (uploaded) => Effect.orDie(encodeUploaded(uploaded)))),
      watch: (request: HttpServerRequest.HttpServerRequest) => Respond.stream(watch(request))
    }
  },
  Effect.provide(Layer.provideMerge(Mac.layerWebCrypto, SecureRandom.layerWebCrypto))
)

/** A form that may have more fields than those of its schema. */
const withAnyField = <Fields extends Schema.Struct.Fields>(form: Schema.Struct<Fields>) =>
  Schema.StructWithRest(form, [Schema.Record(Schema.String, Schema.Unknown)])

/**
 * Adds the two routes of an upload to the `HttpRouter`: `POST` receives a file, and `GET` streams the events of its
 * upload.
 *
 * **Details**
 *
 * - The body is a multipart form with one file. A field after the file is refused. The route writes no file to a disk:
 *   it sends the bytes to the service as they arrive, and the user can send bytes only as fast as the service accepts
 *   them.
 * - Each file gets its own Assembly. The Assembly is canceled if the file is too large, incomplete or followed by
 *   another part, if the user sends nothing for `idleTimeout`, if the service refuses the file, if the upload takes
 *   longer than `timeout`, or if the user closes the connection.
 * - A file is stored once for each id of an upload, whichever process of the application receives its form. If the file is
 *   stored already, the answer is the same again. If its Assembly waits for the file, because the process of an earlier
 *   request was killed, this Assembly is canceled, and the file is stored in a new one.
 * - The events are Server-Sent Events with an event of the upload as JSON in `data`. A page may watch an upload before the
 *   upload starts. Only the process that receives an upload has the events of this upload.
 *
 * **Gotchas**
 *
 * After a broken connection, the user has to send the file again from its first byte, with the same id. If the page should resume its
 * uploads, let the page upload to the service directly; see `Signatures`.
 *
 * @example
 * PassThrough.layer({
 *   policy: ({ filename }) => Effect.succeed({ params: { templateId: "my-template" }, maxBytes: 100_000_000 })
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R, Fields = Readonly<Record<string, string>>>(options: Options<R, Fields>) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { upload, watch } = yield* make(options)
      const path = (options.path ?? defaultPath) as `/${string}`
      yield* router.add("POST", path, upload)
      yield* router.add("POST", `${path}/:uploadId`, upload)
      yield* router.add("GET", `${path}/:uploadId`, watch)
    })
  )

/**
 * Accepts any text as the id of an upload. The route checks the id itself, because the answer of `HttpApi` to an
 * invalid parameter has no body.
 */
const AnyUploadId = Schema.String.annotate({ description: "16 to 64 letters, digits, - and _" })

/**
 * The routes as a group of an `HttpApi`, so that the OpenAPI document of the application contains them. The handlers of
 * the endpoints `upload` and `watch` are the functions that {@link make} returns. The paths of both have the id of the
 * upload, which the page chooses.
 *
 * - `id`: the id of the group, `uploads` by default.
 * - `path`: the path of the route, `/assembly-uploads` by default.
 * - `fields`: the schema of the form fields before the file. Give {@link make} the same schema. By default the document
 *   permits any fields.
 *
 * @example
 * const Api = HttpApi.make("application").add(PassThrough.group())
 *
 * HttpApiBuilder.group(Api, "uploads", (handlers) =>
 *   Effect.map(PassThrough.make({ policy }), ({ upload, watch }) =>
 *     handlers
 *       .handleRaw("upload", ({ request }) => upload(request))
 *       .handleRaw("watch", ({ request }) => watch(request))
 *   )
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const group = <
  const Path extends `/${string}` = typeof defaultPath,
  const Id extends string = "uploads",
  Fields extends Schema.Struct.Fields = {}
>(options?: {
  readonly id?: Id | undefined
  readonly path?: Path | undefined
  readonly fields?: Schema.Struct<Fields> | undefined
}) => {
  const path = `${(options?.path ?? defaultPath) as Path}/:uploadId` as const
  const form = Schema.Struct({ ...options?.fields?.fields, file: Multipart.SingleFileSchema })
  return HttpApiGroup.make((options?.id ?? "uploads") as Id).add(
    HttpApiEndpoint.post("upload", path, {
      params: { uploadId: AnyUploadId },
      payload: (options?.fields === undefined ? withAnyField(form) : form).pipe(HttpApiSchema.asMultipartStream()),
      success: Uploaded,
      error: [...Respond.errorsForPages, Refusal.UploadExists, Refusal.UploadFailed]
    }).annotate(OpenApi.Summary, "Takes a file, and streams it on into an Assembly"),
    HttpApiEndpoint.get("watch", path, {
      params: { uploadId: AnyUploadId },
      success: [HttpApiSchema.StreamSse({ data: Event }), HttpApiSchema.NoContent],
      error: [Refusal.BodyMalformed, Refusal.OriginRefused, Refusal.Busy]
    }).annotate(OpenApi.Summary, "Streams the progress of an upload")
  )
}

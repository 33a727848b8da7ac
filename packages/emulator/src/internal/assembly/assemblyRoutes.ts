import * as Operations from "@assembly-effect/api/Assemblies"
import * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as AssemblyListing from "./assemblyListing.ts"
import * as AssemblyStatus from "./assemblyStatus.ts"
import * as Creation from "./creation.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Sse from "effect/encoding/Sse"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as AssemblyStore from "./assemblyStore.ts"
import * as Updates from "./updates.ts"

const toSse = ({ data, event }: Updates.Update) =>
  Sse.encoder.write({ _tag: "Event", event: event ?? "message", id: undefined, data })

const updateHeaders = { "cache-control": "no-store", "x-accel-buffering": "no" }

/**
 * `GET /assemblies/:assemblyId/updates`: the live updates of an Assembly (beyond the specification). Like a request for
 * the Status, this request needs no credentials.
 */
const updateRoute = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.make
  const updates = yield* Updates.Updates

  /** The last update of an Assembly that has ended. */
  const end = Effect.fnUntraced(function* (id: string) {
    const found = yield* assemblies.find(id)
    if (Option.isNone(found)) return Updates.finished(id)
    const { error, message, state } = found.value
    if (state === "uploading" || state === "executing") return undefined
    return error === null ? Updates.finished(id) : Updates.failed(id, { error, message: message ?? "" })
  })

  return HttpRouter.route(
    "GET",
    "/assemblies/:assemblyId/updates",
    Effect.gen(function* () {
      const { assemblyId = "" } = yield* HttpRouter.params
      if (Option.isNone(yield* assemblies.find(assemblyId))) return Refusal.toResponse(Creation.notFound)
      const events = updates.follow(assemblyId, end(assemblyId)).pipe(Stream.map(toSse), Stream.encodeText)
      // An SSE comment comes first, so that the client sees the open stream at once.
      return HttpServerResponse.stream(Stream.concat(Stream.encodeText(Stream.succeed(": open\n\n")), events), {
        contentType: "text/event-stream",
        headers: updateHeaders
      })
    }).pipe(Refusal.answered("GET /assemblies/:assemblyId/updates"))
  )
})

/** `POST /assemblies`: creates an Assembly with a new id. */
const CreateWithoutId = Operation.make("Assemblies.createWithoutId", "POST /assemblies", {
  ...Operations.Create,
  variables: {},
  retry: "never"
})

/**
 * What the operations that create an Assembly have in common. `tus_num_expected_upload_files` is another name of a
 * field.
 */
const creating = {
  invalid: Refusal.invalidForm,
  aliases: { tus_num_expected_upload_files: "num_expected_upload_files" },
  takesFiles: true,
  encode: AssemblyStatus.encode
}

/** The maximum length of a keyword, in characters. */
const maxKeyword = 256

const routes = Effect.gen(function* () {
  const creation = yield* Creation.make
  const listing = yield* AssemblyListing.make

  return yield* Effect.all([
    updateRoute,
    Route.signed(Operations.Create, {
      ...creating,
      handle: ({ path, ...call }) => creation.create({ ...call, id: path.assemblyId })
    }),
    Route.signed(Operations.Replace, {
      ...creating,
      handle: ({ path, ...call }) => creation.create({ ...call, id: path.assemblyId, replaces: true })
    }),
    Route.signed(CreateWithoutId, {
      ...creating,
      handle: (call) => creation.create({ ...call, id: undefined })
    }),
    Route.signed(Operations.Replay, {
      invalid: Refusal.invalidForm,
      handle: ({ authKey, params, path }) => creation.replay(path.assemblyId, authKey, params)
    }),
    Route.open(Operations.Get, {
      // An invalid id gets the same response as an unknown id.
      invalid: () => Creation.notFound,
      encode: AssemblyStatus.encode,
      handle: ({ path }) => creation.status(path.assemblyId)
    }),
    Route.open(Operations.Cancel, {
      invalid: () => Creation.notFound,
      encode: AssemblyStatus.encode,
      handle: ({ path }) => Effect.andThen(creation.cancel(path.assemblyId), creation.status(path.assemblyId))
    }),
    Route.signed(Operations.List, {
      encode: AssemblyListing.encode,
      handle: ({ authKey, params }) =>
        Effect.andThen(KeywordLimit.check(params.keywords ?? [], maxKeyword), listing(authKey.workspace, params))
    })
  ])
})

/** The routes under `/assemblies`. */
export const layer = HttpRouter.addAll(routes)

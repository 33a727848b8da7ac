import * as Input from "@assembly-effect/api/unstable/Input"
import * as Operations from "@assembly-effect/api/Assemblies"
import * as Operation from "@assembly-effect/api/Operation"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AssemblyStore from "../assembly/assemblyStore.ts"
import * as Creation from "../assembly/creation.ts"
import * as Notifications from "./notifications.ts"
import * as NotificationStore from "./notificationStore.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as ServiceDate from "../data/serviceDate.ts"

/** `GET /assembly_notifications/:assemblyId`, with or without a signature. Beyond the specification. */
const List = Operation.make({
  ...Operations.Get,
  name: "AssemblyNotifications.list",
  path: "/assembly_notifications/:assemblyId",
  answers: "result",
  success: Schema.Struct({
    ok: Schema.Literal("ASSEMBLY_NOTIFICATIONS_LISTED"),
    notifications: Schema.Array(Schema.Record(Schema.String, Schema.Json))
  }),
  retry: "safe"
})

/** `POST /assembly_notifications/:assemblyId/replay`. Beyond the specification. */
const Replay = Operation.make({
  name: "AssemblyNotifications.replay",
  method: "POST",
  path: "/assembly_notifications/:assemblyId/replay",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "signed",
  scope: "assembly_notifications:write",
  carrier: "multipart",
  nonceIn: "params",
  params: Schema.Struct({ notify_url: Schema.optionalKey(Schema.NonEmptyString) }),
  fields: Input.nothing,
  answers: "result",
  success: Schema.Struct({ ok: Schema.Literal("ASSEMBLY_NOTIFICATION_REPLAYED"), notification_id: Schema.String }),
  errors: {},
  retry: []
})

const noUrl = new Refusal.Refusal({
  code: "ASSEMBLY_NOTIFICATION_NOT_REPLAYED",
  status: 400,
  message: "There is no notify_url."
})

const seconds = (millis: number | null) => (millis === null ? null : millis / 1000)

/**
 * Converts an attempt to an entry of the list. Only a caller with an Auth Key gets the body of the response, because
 * the body may come from an internal service, and the id of an Assembly must not be enough to read the body.
 */
const toEntry = (isKnown: boolean) => (row: NotificationStore.Row) => ({
  id: row.id,
  assembly_id: row.assembly_id,
  url: row.url,
  status: row.status,
  response_code: row.response_code,
  response_data: isKnown ? row.response_data : null,
  error: row.error,
  start: ServiceDate.format(row.started_at),
  duration: seconds(row.duration)
})

const routes = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const notifications = yield* Notifications.Notifications
  const sent = yield* NotificationStore.NotificationStore

  return yield* Effect.all([
    Route.optionallySigned(List, {
      invalid: () => Creation.notFound,
      handle: Effect.fnUntraced(function* ({ caller, path }) {
        const assembly = Option.filter(
          yield* assemblies.find(path.assemblyId),
          ({ workspace }) => caller === undefined || caller.workspace === workspace
        )
        if (Option.isNone(assembly)) return yield* Creation.notFound
        const rows = yield* sent.ofAssembly(path.assemblyId)
        const isKnown = caller !== undefined
        return { ok: "ASSEMBLY_NOTIFICATIONS_LISTED", notifications: rows.map(toEntry(isKnown)) } as const
      })
    }),
    Route.signed(Replay, {
      invalid: ([issue]) => new Refusal.Refusal({ ...noUrl, message: issue?.message ?? noUrl.message }),
      handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
        const assembly = Option.filter(
          yield* assemblies.find(path.assemblyId),
          ({ workspace }) => workspace === authKey.workspace
        )
        if (Option.isNone(assembly)) return yield* Creation.notFound
        const url = params.notify_url ?? assembly.value.notify_url
        if (url === null) return yield* noUrl
        const isSigned = authKey.isSigned || (params.notify_url === undefined && assembly.value.is_signed === 1)
        const id = yield* notifications.replay(path.assemblyId, url, isSigned)
        return { ok: "ASSEMBLY_NOTIFICATION_REPLAYED", notification_id: id } as const
      })
    })
  ])
})

/** The routes under `/assembly_notifications`. */
export const layer = HttpRouter.addAll(routes)

import * as Operations from "@assembly-effect/api/Notifications"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as Notification from "@assembly-effect/schema/Notification"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as AssemblyStore from "../assembly/assemblyStore.ts"
import * as Creation from "../assembly/creation.ts"
import * as Notifications from "./notifications.ts"
import * as NotificationStore from "./notificationStore.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"

const noUrl = Refusal.refuse(
  "ASSEMBLY_NOTIFICATION_NOT_REPLAYED",
  400,
  "Neither the request nor the Assembly has a notify_url."
)

const seconds = (millis: number | null) => (millis === null ? null : millis / 1000)

/**
 * Converts an attempt to an entry of the list. Only a caller with an Auth Key gets the body of the response, because
 * the body may come from an internal service, and the id of an Assembly must not be enough to read the body.
 */
const toEntry =
  (isKnown: boolean) =>
  (row: NotificationStore.Row): Notification.Notification => ({
    id: row.id,
    assembly_id: Assembly.AssemblyId.make(row.assembly_id),
    url: row.url,
    status: row.status,
    response_code: row.response_code,
    response_data: isKnown ? row.response_data : null,
    error: row.error,
    start: DateTime.makeUnsafe(row.started_at),
    duration: seconds(row.duration)
  })

const routes = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const notifications = yield* Notifications.Notifications
  const sent = yield* NotificationStore.NotificationStore

  return yield* Effect.all([
    Route.optionallySigned(Operations.List, {
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
    Route.signed(Operations.Replay, {
      invalid: Refusal.invalid(noUrl.code),
      handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
        const assembly = Option.filter(
          yield* assemblies.find(path.assemblyId),
          ({ workspace }) => workspace === authKey.workspace
        )
        if (Option.isNone(assembly)) return yield* Creation.notFound
        const url = params.notifyUrl ?? assembly.value.notify_url
        if (url === null) return yield* noUrl
        const isSigned = authKey.isSigned || (params.notifyUrl === undefined && assembly.value.is_signed === 1)
        const id = yield* notifications.replay(path.assemblyId, url, isSigned)
        return { ok: "ASSEMBLY_NOTIFICATION_REPLAYED", success: true, notification_id: id } as const
      })
    })
  ])
})

/** The routes under `/assembly_notifications`. */
export const layer = HttpRouter.addAll(routes)

import * as Operations from "@assembly-effect/api/Notifications"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as AssemblyStore from "../assembly/assemblyStore.ts"
import * as Creation from "../assembly/creation.ts"
import * as Statement from "../data/statement.ts"
import * as Notifications from "./notifications.ts"
import * as NotificationStore from "./notificationStore.ts"
import { refused } from "../http/refusal.ts"
import * as Route from "../http/route.ts"

const noUrl = refused(400, "Neither the request nor the Assembly has a notify_url.")

const found = Statement.orFail(Creation.notFound)

const routes = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.make
  const notifications = yield* Notifications.Notifications
  const sent = yield* NotificationStore.make

  return yield* Effect.all([
    Route.optionallySigned(Operations.List, {
      invalid: () => Creation.notFound,
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        const { assemblyId } = path
        yield* found(
          authKey === undefined ? assemblies.find(assemblyId) : assemblies.findIn(authKey.workspace, assemblyId)
        )
        const rows = yield* sent.ofAssembly(assemblyId)
        // Only a caller with an Auth Key gets the body of the response, because the body may come from an internal
        // service, and the id of an Assembly must not be enough to read the body.
        const entries = authKey === undefined ? rows.map((row) => ({ ...row, response_data: null })) : rows
        return { ok: "ASSEMBLY_NOTIFICATIONS_LISTED", notifications: entries } as const
      })
    }),
    Route.signed(Operations.Replay, {
      code: "ASSEMBLY_NOTIFICATION_NOT_REPLAYED",
      handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
        const { is_signed, notify_url } = yield* found(assemblies.findIn(authKey.workspace, path.assemblyId))
        const url = params.notifyUrl ?? notify_url
        if (url === null) return yield* noUrl
        const isSigned = authKey.isSigned || (params.notifyUrl === undefined && is_signed)
        const id = yield* notifications.replay(path.assemblyId, url, isSigned)
        return { ok: "ASSEMBLY_NOTIFICATION_REPLAYED", success: true, notification_id: id } as const
      })
    })
  ])
})

/** The routes under `/assembly_notifications`. */
export const layer = HttpRouter.addAll(routes)

import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Style from "../Style.ts"
import * as Cells from "../internal/cells.ts"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

const assemblyId = Argument.String("assemblyId").pipe(
  Argument.withDescription("The id of the Assembly"),
  Argument.withSchema(Assembly.AssemblyId)
)

const paintStatus = (text: string, { status }: Notification.Notification, style: Style.Style): string => {
  switch (status) {
    case "successful":
      return style.green(text)
    case "error":
      return style.red(text)
    default:
      return style.yellow(text)
  }
}

const columns = (now: DateTime.DateTime): ReadonlyArray<Table.Column<Notification.Notification>> => [
  Cells.timeColumn("Sent", ({ start }) => start, { now, rank: 2 }),
  { title: "Status", rank: 1, value: ({ status }) => Cells.text(status), style: paintStatus, keep: true },
  { title: "Response", rank: 3, align: "right", value: (one) => Cells.text(one.response_code?.toString()), keep: true },
  { title: "URL", rank: 5, value: ({ url }) => Cells.text(url) },
  { title: "Error", rank: 4, value: ({ error }) => Cells.text(error) }
]

const list = Command.make(
  "list",
  { assemblyId, json: jsonFlag },
  Effect.fnUntraced(function* ({ assemblyId: id, json }) {
    const found = yield* Notifications.list(id)
    if (json) return yield* Output.json(Notification.Listing)(found)
    const layout = yield* Output.layout
    yield* Output.report(
      Table.render(columns(yield* DateTime.now), found.notifications, { ...layout, empty: "no notifications" })
    )
  })
).pipe(
  Command.withDescription("List the notifications about an Assembly, and the responses of their receivers"),
  Command.withExamples([
    { command: "assembly notifications list <assemblyId>", description: "All attempts" },
    { command: "assembly notifications list --json <assemblyId>", description: "The same for another program" }
  ])
)

const replay = Command.make(
  "replay",
  {
    assemblyId,
    notifyUrl: Flag.String("url").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("Another receiver (default: the notify_url of the Assembly)"),
      Flag.optional
    ),
    wait: switchFlag("wait").pipe(
      Flag.withDescription("Make the service wait for the receiver before it responds; --no-wait forbids it"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ assemblyId: id, json, notifyUrl, wait }) {
    const replayed = yield* Notifications.replay(id, given({ notifyUrl, wait }))
    yield* json
      ? Output.json(Notification.Replayed)(replayed)
      : Output.lines([`sent notification ${replayed.notification_id}`])
  })
).pipe(
  Command.withDescription("Send the notification of an Assembly again"),
  Command.withExamples([
    {
      command: "assembly notifications replay --url https://app.example.com/assembly <assemblyId>",
      description: "Send it to another receiver"
    },
    { command: "assembly notifications replay --wait <assemblyId>", description: "Wait for the receiver" }
  ])
)

/** `assembly notifications`: the requests of the service to the `notify_url` of an Assembly. */
export const notifications = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  Command.make("notifications").pipe(
    Command.withSubcommands([Command.provide(list, service), Command.provide(replay, service)]),
    Command.withExamples([
      { command: "assembly notifications list <assemblyId>", description: "All attempts" },
      { command: "assembly notifications replay <assemblyId>", description: "Send the notification again" }
    ])
  )

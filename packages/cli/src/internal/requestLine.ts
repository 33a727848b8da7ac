/**
 * A request of the emulator as a line of its log. All functions are pure.
 */
import type * as RequestLog from "@assembly-effect/emulator/RequestLog"
import * as Printable from "@assembly-effect/schema/Printable"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Format from "../Format.ts"
import * as Style from "../Style.ts"
import * as Text from "./text.ts"

/**
 * The width of the column of operations, in cells. A line with a name that fits, a duration below a minute and the id
 * of an Assembly has 80 cells.
 */
const operationCells = 22

/** The maximum length of a path or a reason, in cells. A client may send a path of any length. */
const maxCells = 300

const paintStatus = (status: number, style: Style.Style): string => {
  const text = String(status)
  if (status >= 500) return style.red(text)
  return status >= 400 ? style.yellow(text) : style.green(text)
}

/**
 * Renders a request as one line: the time, the operation, the status, the duration, the id of the Assembly and the
 * reason of a refusal. The method and the path are shown only if the request matches no operation, because the paths of
 * uploads contain ids that grant access. The id of the Assembly is shown, because the user needs it for the next
 * command.
 */
export const render = (
  { assemblyId, duration, method, operation, path, reason, status }: RequestLog.Entry,
  now: DateTime.DateTime,
  style: Style.Style = Style.plain
): Style.Line => {
  const name = Text.truncate(Printable.escape(operation ?? `${method} ${path}`), maxCells)
  const parts = [
    style.dim(Format.date(now).slice(11)),
    Text.pad(name, operationCells, "left"),
    paintStatus(status, style),
    Text.pad(Format.latency(Duration.toMillis(duration)), 7, "right"),
    ...(assemblyId === undefined ? [] : [assemblyId]),
    ...(reason === undefined ? [] : [Text.truncate(Printable.escape(reason), maxCells)])
  ]
  return Style.toLine(parts.join("  "))
}

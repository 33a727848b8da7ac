/**
 * Formats the Status of an Assembly for users. All functions are pure.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Format from "../Format.ts"
import * as AssemblyState from "./assemblyState.ts"
import * as Cells from "./cells.ts"
import type * as Facts from "./facts.ts"
import * as ResultFiles from "./resultFiles.ts"

/**
 * The received bytes, such as `10.0 MiB`, or `3.0 MiB of 10.0 MiB` if more bytes are expected. The result is undefined
 * if the Status does not report the received bytes.
 */
const received = ({ bytes_expected: expected, bytes_received: bytes }: Assembly.Status): string | undefined => {
  if (typeof bytes !== "number") return undefined
  return typeof expected === "number" && expected > bytes
    ? `${Format.bytes(bytes)} of ${Format.bytes(expected)}`
    : Format.bytes(bytes)
}

const uploads = (status: Assembly.Status): string | undefined => {
  const { expected_tus_uploads: expected, finished_tus_uploads: finished } = status
  if (typeof expected !== "number" || expected === 0) return undefined
  return `${finished ?? 0} of ${expected}`
}

/** The facts of a Status, each with its name. */
export const of = (status: Assembly.Status): ReadonlyArray<Facts.Fact> => {
  const { execution_duration: seconds } = status
  return [
    ["Assembly", status.assembly_id],
    ["State", AssemblyState.name(status)],
    ["Error", Assembly.errorCode(status)],
    ["Message", status.message],
    [
      "Created (UTC)",
      status.start_date &&
        Option.match(DateTime.make(status.start_date), { onNone: () => status.start_date, onSome: Cells.minute })
    ],
    ["Region", status.region],
    ["Template", status.template_id],
    ["Files", uploads(status)],
    ["Received", received(status)],
    ["Duration", typeof seconds === "number" ? Format.duration(Duration.seconds(seconds)) : undefined],
    ["Results", String(ResultFiles.total(status))]
  ]
}

/**
 * The state, the error code, the progress and the number of results of an Assembly, in one line. If the Assembly has
 * ended, the progress is left out.
 */
export const line = (status: Assembly.Status): string => {
  const code = Assembly.errorCode(status)
  const parts = [
    AssemblyState.name(status),
    code,
    Assembly.isOver(status) ? undefined : uploads(status) && `${uploads(status)} files`,
    Assembly.isOver(status) ? undefined : received(status) && `${received(status)} received`,
    ResultFiles.total(status) === 0 ? undefined : ResultFiles.counted(status)
  ]
  return parts.filter((part) => part !== undefined && part !== "").join(", ")
}

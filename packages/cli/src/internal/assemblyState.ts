/**
 * The state of an Assembly in words. All functions are pure.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as Style from "../Style.ts"
import * as Cells from "./cells.ts"

/** The fields of a Status, or of a list entry, that determine the state. */
type Standing = Pick<Assembly.Status, "ok" | "error">

/**
 * The name of the state, as in `assembly list --type`, which has no name for `replaying`. A Status without a state has
 * the name `–`.
 */
export const name = (standing: Standing): string => {
  if (Assembly.errorCode(standing) !== undefined) return "failed"
  return standing.ok?.replace(/^ASSEMBLY_/, "").toLowerCase() || Cells.unknown
}

/** The states that this program knows, and `–` for a service that reports no state. */
const names: ReadonlySet<string> = new Set([
  "completed",
  "failed",
  "uploading",
  "executing",
  "replaying",
  "canceled",
  "request_aborted",
  Cells.unknown
])

/** The name of the state, or `other` if this program does not know the state: at most 15 cells. */
export const known = (standing: Standing): string => (names.has(name(standing)) ? name(standing) : "other")

/** As {@link known}, in at most 9 cells. */
export const short = (standing: Standing): string => known(standing).replace("request_", "")

/** Paints a text in the colour of the state. */
export const paint = (text: string, standing: Standing, style: Style.Style): string => {
  switch (Assembly.state(standing)) {
    case "Failed":
      return style.red(text)
    case "Completed":
      return style.green(text)
    default:
      return style.yellow(text)
  }
}

/**
 * The dates of resources, such as `2025/09/24 14:30:24 GMT`.
 */
import { dateText } from "./listDate.ts"

const pattern = /^(\d{4})[/-](\d{2})[/-](\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{3})\d*)?(?: ?GMT|Z)?$/u

const toIso = (text: string): string => {
  const [, year, month, day, time, millis = "000"] = pattern.exec(text) ?? []
  return `${year}-${month}-${day}T${time}.${millis}Z`
}

const fromIso = (iso: string): string => `${iso.replaceAll("-", "/").replace("T", " ")} GMT`

/**
 * A date of a resource. Encoding writes whole seconds, such as `2025/09/24 14:30:24 GMT`. Decoding also accepts hyphens
 * instead of slashes, ISO 8601 such as `2025-09-24T14:30:24.000Z`, and a text without a zone, which means UTC.
 */
export const ServiceDate = dateText(pattern, "a date such as 2025/09/24 14:30:24 GMT", [toIso, fromIso], Math.floor)

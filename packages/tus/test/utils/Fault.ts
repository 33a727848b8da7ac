import type { OutgoingHttpHeaders } from "node:http"

/**
 * What happens to the next request with this method (`*`: any, `FINAL`: the
 * creation that puts parts together).
 *
 * - `Cut`: after so many bytes of its body the connection breaks. `Stall`: from there nothing is read.
 * - `Status`: it is answered without being done. `StatusAfter`: it is done and the answer replaced.
 * - `LostAnswer`, `HalfAnswer`, `SlowAnswer`: it is done; the answer is lost, breaks off, comes late.
 * - `WrongOffset`, `MissingOffset`: it is done; the answer tells another offset, or none.
 * - `NoAnswer`: it is neither read nor answered.
 * - `Corrupt`: a bit of its body changes on the way. Only a request with a checksum meets it.
 */
export type Fault = { readonly method: "POST" | "PATCH" | "HEAD" | "DELETE" | "OPTIONS" | "FINAL" | "*" } & (
  | { readonly _tag: "Cut"; readonly bytes: number }
  | { readonly _tag: "Stall"; readonly bytes: number }
  | { readonly _tag: "Status"; readonly status: number; readonly headers?: OutgoingHttpHeaders }
  | { readonly _tag: "StatusAfter"; readonly status: number; readonly headers?: OutgoingHttpHeaders }
  | { readonly _tag: "LostAnswer" }
  | { readonly _tag: "HalfAnswer" }
  | { readonly _tag: "NoAnswer" }
  | { readonly _tag: "Corrupt" }
  | { readonly _tag: "SlowAnswer"; readonly millis: number }
  | { readonly _tag: "WrongOffset"; readonly offset: string }
  | { readonly _tag: "MissingOffset" }
)

/**
 * What happens on the way of the next request with this method (`*`: any but GET, `FINAL`: the creation that puts parts
 * together, `GET`: a look at the Assembly's Status).
 *
 * - `Cut`: after so many bytes of its body the connection breaks. `Stall`: from there nothing is read.
 * - `Slow`: its body passes in stretches of so many bytes, with a pause after each.
 * - `Status`: it is answered without reaching the server. `StatusAfter`: it is done and the answer replaced.
 * - `LostAnswer`, `HalfAnswer`, `SlowAnswer`: it is done; the answer is lost, breaks off, comes late.
 * - `WrongOffset`, `MissingOffset`: it is done; the answer tells another offset, or none.
 * - `WrongLength`: it is done; the answer tells this length of the upload.
 * - `NoAnswer`: it neither reaches the server nor is answered.
 * - `Corrupt`: a bit of its body changes on the way.
 */
export type Fault = {
  readonly method: "POST" | "PATCH" | "HEAD" | "DELETE" | "OPTIONS" | "FINAL" | "GET" | "*"
} & (
  | { readonly _tag: "Cut"; readonly bytes: number }
  | { readonly _tag: "Stall"; readonly bytes: number }
  | { readonly _tag: "Slow"; readonly bytes: number; readonly millis: number }
  | { readonly _tag: "Status"; readonly status: number; readonly headers?: Headers; readonly body?: string }
  | { readonly _tag: "StatusAfter"; readonly status: number; readonly headers?: Headers }
  | { readonly _tag: "LostAnswer" }
  | { readonly _tag: "HalfAnswer" }
  | { readonly _tag: "NoAnswer" }
  | { readonly _tag: "Corrupt" }
  | { readonly _tag: "SlowAnswer"; readonly millis: number }
  | { readonly _tag: "WrongOffset"; readonly offset: string }
  | { readonly _tag: "MissingOffset" }
  | { readonly _tag: "WrongLength"; readonly length: string }
)

type Headers = Readonly<Record<string, string>>

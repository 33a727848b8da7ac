/**
 * A fault of the next request with this method (`*`: any method except GET, `FINAL`: the concatenation, `GET`: a
 * request for the Assembly's Status).
 *
 * - `Cut`: the connection breaks after the given number of bytes of the body. `Stall`: nothing is read from there on.
 * - `Slow`: the body passes in pieces of the given size, with a pause after each.
 * - `Status`: responds without the server. `StatusAfter`: the server processes the request, and its response is
 *   replaced.
 * - `LostAnswer`, `SlowAnswer`: the server processes the request; its response is lost or late.
 * - `WrongOffset`, `MissingOffset`: the server processes the request; its response has another offset, or none.
 * - `WrongLength`: the server processes the request; its response has this length of the upload.
 * - `NoAnswer`: the request does not reach the server and gets no response.
 * - `Corrupt`: one bit of the body is changed.
 */
export type Fault = { readonly method: "POST" | "PATCH" | "HEAD" | "DELETE" | "OPTIONS" | "FINAL" | "GET" | "*" } & (
  | { readonly _tag: "Cut"; readonly bytes: number }
  | { readonly _tag: "Stall"; readonly bytes: number }
  | { readonly _tag: "Slow"; readonly bytes: number; readonly millis: number }
  | { readonly _tag: "Status"; readonly status: number; readonly headers?: Headers; readonly body?: string }
  | { readonly _tag: "StatusAfter"; readonly status: number; readonly headers?: Headers }
  | { readonly _tag: "LostAnswer" }
  | { readonly _tag: "NoAnswer" }
  | { readonly _tag: "Corrupt" }
  | { readonly _tag: "SlowAnswer"; readonly millis: number }
  | { readonly _tag: "WrongOffset"; readonly offset: string }
  | { readonly _tag: "MissingOffset" }
  | { readonly _tag: "WrongLength"; readonly length: string }
)

type Headers = Readonly<Record<string, string>>

/**
 * HTTP/1.1 as it is on the wire: what a proxy has to know of it to tell one message from the next.
 */

/** The first line of a message, and its header lines. */
export interface Head {
  readonly start: string
  readonly headers: ReadonlyArray<string>
}

/**
 * A stretch of a message. `Body` are bytes of the content, `Frame` those of its chunked coding around them.
 */
export type Piece =
  | { readonly _tag: "Head"; readonly head: Head }
  | { readonly _tag: "Body"; readonly bytes: Buffer }
  | { readonly _tag: "Frame"; readonly bytes: Buffer }
  | { readonly _tag: "End" }

/** The value of a header, by its name in small letters. */
export const header = (head: Head, name: string): string | undefined =>
  head.headers
    .find((line) => line.toLowerCase().startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim()

/** The head with another value of a header, or without it. */
export const withHeader = (head: Head, name: string, value: string | undefined): Head => ({
  start: head.start,
  headers: [
    ...head.headers.filter((line) => !line.toLowerCase().startsWith(`${name}:`)),
    ...(value === undefined ? [] : [`${name}: ${value}`])
  ]
})

export const encodeHead = ({ headers, start }: Head): Buffer =>
  Buffer.from([start, ...headers, "", ""].join("\r\n"), "latin1")

const parseHead = (text: string): Head => {
  const [start = "", ...headers] = text.split("\r\n")
  return { start, headers }
}

/** What comes next: a head, so many bytes, or a part of the chunked coding. */
type Expected =
  | { readonly _tag: "Head" | "ChunkSize" | "Trailer" }
  | { readonly _tag: "Body" | "Chunk"; readonly left: number }

/** Bodies that end with their connection are not known here: none of the servers sends one. */
const bodyOf = (head: Head): Expected | undefined => {
  if (header(head, "transfer-encoding") === "chunked") return { _tag: "ChunkSize" }
  const length = Number(header(head, "content-length") ?? 0)
  return length === 0 ? undefined : { _tag: "Body", left: length }
}

/**
 * Reads messages from bytes as they come. `isBodiless` says which have no body whatever their head says.
 */
export const reader = (
  isBodiless: (head: Head) => boolean = () => false
): ((bytes: Buffer) => ReadonlyArray<Piece>) => {
  let pending: Buffer = Buffer.alloc(0)
  let expected: Expected = { _tag: "Head" }

  const take = (size: number): Buffer => {
    const taken = pending.subarray(0, size)
    pending = pending.subarray(taken.length)
    return taken
  }

  /** Everything up to and with a mark, once it is there. */
  const takeTo = (mark: string): Buffer | undefined => {
    const at = pending.indexOf(mark)
    return at === -1 ? undefined : take(at + mark.length)
  }

  const step = (): ReadonlyArray<Piece> | undefined => {
    switch (expected._tag) {
      case "Head": {
        const text = takeTo("\r\n\r\n")
        if (text === undefined) return undefined
        const head = parseHead(text.subarray(0, -4).toString("latin1"))
        const body = isBodiless(head) ? undefined : bodyOf(head)
        expected = body ?? { _tag: "Head" }
        return body === undefined ? [{ _tag: "Head", head }, { _tag: "End" }] : [{ _tag: "Head", head }]
      }
      case "Body": {
        if (pending.length === 0) return undefined
        const bytes = take(expected.left)
        const left = expected.left - bytes.length
        expected = left === 0 ? { _tag: "Head" } : { _tag: "Body", left }
        return left === 0 ? [{ _tag: "Body", bytes }, { _tag: "End" }] : [{ _tag: "Body", bytes }]
      }
      case "ChunkSize": {
        const bytes = takeTo("\r\n")
        if (bytes === undefined) return undefined
        const left = Number.parseInt(bytes.toString("latin1"), 16)
        expected = left === 0 ? { _tag: "Trailer" } : { _tag: "Chunk", left }
        return [{ _tag: "Frame", bytes }]
      }
      case "Chunk": {
        if (expected.left > 0) {
          if (pending.length === 0) return undefined
          const bytes = take(expected.left)
          expected = { _tag: "Chunk", left: expected.left - bytes.length }
          return [{ _tag: "Body", bytes }]
        }
        const bytes = takeTo("\r\n")
        if (bytes === undefined) return undefined
        expected = { _tag: "ChunkSize" }
        return [{ _tag: "Frame", bytes }]
      }
      case "Trailer": {
        const bytes = takeTo("\r\n")
        if (bytes === undefined) return undefined
        if (bytes.length > 2) return [{ _tag: "Frame", bytes }]
        expected = { _tag: "Head" }
        return [{ _tag: "Frame", bytes }, { _tag: "End" }]
      }
    }
  }

  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    const pieces: Array<Piece> = []
    for (let more = step(); more !== undefined; more = step()) pieces.push(...more)
    return pieces
  }
}

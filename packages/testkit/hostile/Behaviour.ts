/**
 * Named behaviours of a server towards its client. `hanging`, `stall`, `silence` and `endless` leave the response open.
 * All others end it.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http"
import * as Zlib from "node:zlib"

/** A behaviour responds to one request, whatever the request contains. */
export type Behaviour = (request: unknown, response: ServerResponse) => void

type Head = Readonly<Record<string, string | number>>

const jsonType = { "content-type": "application/json" } as const

/** A complete response with a content length. */
export const text =
  (status: number, body: string | Uint8Array, headers: Head = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers })
    response.end(body)
  }

export const json = (status: number, body: unknown, headers: Head = {}): Behaviour =>
  text(status, JSON.stringify(body), { ...jsonType, ...headers })

/** A complete response in two chunks, without a content length. */
export const chunked =
  (status: number, body: string, headers: Head = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { ...jsonType, ...headers })
    response.write(body.slice(0, body.length / 2))
    response.end(body.slice(body.length / 2))
  }

/** Cuts the connection in the middle of the body. */
export const cut =
  (status: number, body: string): Behaviour =>
  (_, response) => {
    response.writeHead(status, { ...jsonType, "content-length": Buffer.byteLength(body) })
    response.write(body.slice(0, body.length / 2), () => response.destroy())
  }

/** Cuts the connection before any response. */
export const reset: Behaviour = (_, response) => response.destroy()

/** Sends the headers and the beginning of a body of 100 bytes, then nothing forever. */
export const hanging =
  (status: number, headers: Head = {}, start = "{"): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-length": 100, ...headers })
    response.write(start)
  }

/** Sends the headers and the beginning of a body without a length, then nothing forever. */
export const stall =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, jsonType)
    response.write("{")
  }

/** Never responds. */
export const silence: Behaviour = () => undefined

/** Sends an endless body, as fast as it is read. */
export const endless =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, jsonType)
    const piece = "x".repeat(64 * 1024)
    const pump = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on("drain", pump)
    pump()
  }

/** Refuses a request as soon as its headers have arrived, and closes the connection during its body. */
export const refuseEarly =
  (status: number, body: string, headers: Head = {}) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), connection: "close", ...headers })
    response.end(body, () => request.socket.destroy())
  }

/** The codings that a client may decode by itself. */
const compressors = {
  br: () =>
    Zlib.createBrotliCompress({
      params: { [Zlib.constants.BROTLI_PARAM_QUALITY]: 3, [Zlib.constants.BROTLI_PARAM_LGWIN]: 24 }
    }),
  gzip: () => Zlib.createGzip({ level: 1 }),
  zstd: () => Zlib.createZstdCompress()
}

export type Coding = keyof typeof compressors

export const codings: ReadonlyArray<Coding> = ["br", "gzip", "zstd"]

/**
 * The given number of bytes of white space, compressed. JSON may start with white space. The bytes are never held in
 * memory as a whole.
 */
export const compressed = async (coding: Coding, bytes: number): Promise<Buffer> => {
  const compressor = compressors[coding]()
  const piece = Buffer.alloc(1024 * 1024, " ")
  const pieces: Array<Buffer> = []
  compressor.on("data", (data: Buffer) => pieces.push(data))
  const ended = new Promise((resolve, reject) => compressor.on("end", resolve).on("error", reject))
  for (let left = bytes; left > 0; left -= piece.length) {
    if (!compressor.write(piece.subarray(0, left))) await new Promise((resolve) => compressor.once("drain", resolve))
  }
  compressor.end()
  await ended
  return Buffer.concat(pieces)
}

/** Whether a bomb sends its length. */
export type Length = "true" | "missing"

/** Sends a small body that becomes large when the client decodes it. */
export const bomb =
  (status: number, coding: Coding, body: Buffer, length: Length, headers: Head = {}): Behaviour =>
  (_, response) => {
    const head: OutgoingHttpHeaders = { ...jsonType, "content-encoding": coding, ...headers }
    response.writeHead(status, length === "true" ? { ...head, "content-length": body.length } : head)
    response.end(body)
  }

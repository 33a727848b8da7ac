/**
 * What a server can do to its client instead of a plain answer, by name. Each ends the exchange by itself, or leaves it
 * open for ever where its name says so.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http"
import * as Zlib from "node:zlib"

/** What becomes of one request, whatever it asked. */
export type Behaviour = (request: unknown, response: ServerResponse) => void

type Head = Readonly<Record<string, string | number>>

const jsonType = { "content-type": "application/json" } as const

/** A whole answer with a content length. */
export const text =
  (status: number, body: string | Uint8Array, headers: Head = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers })
    response.end(body)
  }

export const json = (status: number, body: unknown, headers: Head = {}): Behaviour =>
  text(status, JSON.stringify(body), { ...jsonType, ...headers })

/** A whole answer in two chunks, without a content length. */
export const chunked =
  (status: number, body: string, headers: Head = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { ...jsonType, ...headers })
    response.write(body.slice(0, body.length / 2))
    response.end(body.slice(body.length / 2))
  }

/** The connection is cut in the middle of the body. */
export const cut =
  (status: number, body: string): Behaviour =>
  (_, response) => {
    response.writeHead(status, { ...jsonType, "content-length": Buffer.byteLength(body) })
    response.write(body.slice(0, body.length / 2), () => response.destroy())
  }

/** The connection is cut before any answer. */
export const reset: Behaviour = (_, response) => response.destroy()

/** The head of an answer and the start of a body of 100 bytes, then nothing for ever. */
export const hanging =
  (status: number, headers: Head = {}, start = "{"): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-length": 100, ...headers })
    response.write(start)
  }

/** The head of an answer and the start of a body without a length, then nothing for ever. */
export const stall =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, jsonType)
    response.write("{")
  }

/** No answer, for ever. */
export const silence: Behaviour = () => undefined

/** A body without end, as fast as it is read. */
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

/** Says no as soon as the head of a request is there, and closes the connection though its body is still on the way. */
export const refuseEarly =
  (status: number, body: string, headers: Head = {}) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), connection: "close", ...headers })
    response.end(body, () => request.socket.destroy())
  }

/** The codings that a client may take off by itself. */
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

/** So many bytes of white space, which JSON may begin with, compressed; never held as a whole. */
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

/** Whether a bomb tells its length on the wire. */
export type Length = "true" | "missing"

/** A small body that becomes a large one where the client takes its coding off. */
export const bomb =
  (status: number, coding: Coding, body: Buffer, length: Length, headers: Head = {}): Behaviour =>
  (_, response) => {
    const head: OutgoingHttpHeaders = { ...jsonType, "content-encoding": coding, ...headers }
    response.writeHead(status, length === "true" ? { ...head, "content-length": body.length } : head)
    response.end(body)
  }

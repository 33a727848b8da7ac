import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import type { Assembly } from "@assembly-effect/schema"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert } from "@effect/vitest"
import { DateTime, Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { Base64 } from "effect/encoding"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { createHash, createHmac } from "node:crypto"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"

/** The bytes of a file, and their digest. */
export const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251)
export const sha256 = createHash("sha256").update(bytes).digest("hex")

/** The bytes of a text. */
export const encoded = (text: string) => new TextEncoder().encode(text)

/** A running emulator with its faults, a client of the emulator, and an HTTP client. */
export const layer = (options?: Emulator.Options) =>
  Client.signed().pipe(Layer.provideMerge(Layer.merge(Emulator.layer(options), FetchHttpClient.layer)))

/** A folder that is removed when the scope of the test closes. */
export const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeFileSystem.layer)
)

/** Runs a statement in the database of a folder that no emulator uses, and returns the rows. */
export const inDatabase = (data: string, sql: string, ...params: ReadonlyArray<SQLInputValue>) => {
  const database = new DatabaseSync(`${data}/emulator.sqlite`)
  try {
    return database.prepare(sql).all(...params)
  } finally {
    database.close()
  }
}

/** Sends a raw request and reads the whole response. A URL that is only a path is a path of the emulator. */
export const send = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
  const { baseUrl } = yield* Emulator.Emulator
  const http = HttpClient.withScope(yield* HttpClient.HttpClient)
  const response = yield* http.execute(
    request.url.startsWith("/") ? HttpClientRequest.prependUrl(request, baseUrl) : request
  )
  return { status: response.status, headers: response.headers, text: yield* response.text }
}, Effect.scoped)

/** Parses the JSON body of a response. */
export const json = ({ text }: { readonly text: string }): { readonly [key: string]: unknown } => JSON.parse(text)

/** The signature of a text, computed without the code under test. */
export const hmac = (text: string, secret: Redacted.Redacted, algorithm = "sha384"): string =>
  `${algorithm}:${createHmac(algorithm, Redacted.value(secret)).update(text).digest("hex")}`

/** Steps that keep each upload as an asset at `path`. */
export const storeAt = (path: string) => ({
  ":original": { robot: "/upload/handle" },
  stored: { use: ":original", robot: "/transloadit/store", path }
})

const tus = { "tus-resumable": "1.0.0" }

export const metadata = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key} ${Base64.encode(value)}`)
    .join(",")

/** The headers of a request that creates an upload for an Assembly. */
export const creationHeaders = (status: Assembly.Status, headers: Readonly<Record<string, string>>) => ({
  ...tus,
  "upload-metadata": metadata({
    assembly_url: status.assembly_ssl_url ?? "",
    filename: "a file.txt",
    fieldname: "file",
    mark: "ä"
  }),
  ...headers
})

/** Creates an upload for an Assembly. `url` is that of the upload. */
export const createUpload = (status: Assembly.Status, headers: Readonly<Record<string, string>>) =>
  Effect.map(
    send(HttpClientRequest.post(status.tus_url ?? "", { headers: creationHeaders(status, headers) })),
    (answer) => ({ ...answer, url: answer.headers["location"] ?? "" })
  )

export const patch = (url: string, offset: number, body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  send(
    HttpClientRequest.patch(url, { headers: { ...tus, "upload-offset": String(offset), ...headers } }).pipe(
      HttpClientRequest.bodyUint8Array(body, "application/offset+octet-stream")
    )
  )

/** Sends a PATCH request at offset 0. Its body contains these bytes and then never ends. */
export const patchForever = (url: string, content: Uint8Array) =>
  send(
    HttpClientRequest.patch(url, { headers: { ...tus, "upload-offset": "0" } }).pipe(
      HttpClientRequest.bodyStream(Stream.concat(Stream.make(content), Stream.never), {
        contentType: "application/offset+octet-stream"
      })
    )
  )

export const head = (url: string) => send(HttpClientRequest.head(url, { headers: tus }))

export const terminate = (url: string) => send(HttpClientRequest.delete(url, { headers: tus }))

/** Creates an upload with bytes in the body of the request. */
export const createWith = (
  status: Assembly.Status,
  content: Uint8Array,
  headers: Readonly<Record<string, string>> = {}
) =>
  send(
    HttpClientRequest.post(status.tus_url ?? "", {
      headers: creationHeaders(status, { "upload-length": String(bytes.length), ...headers })
    }).pipe(HttpClientRequest.bodyUint8Array(content, "application/offset+octet-stream"))
  )

/** An Assembly that waits for one upload. */
export const waiting = Assemblies.create({ numExpectedUploadFiles: 1 })

/** The ids of the newest Assemblies. */
export const listed = Effect.gen(function* () {
  const fromDate = DateTime.subtract(DateTime.startOf(yield* DateTime.now, "second"), { hours: 1 })
  return (yield* Assemblies.list({ fromDate })).items.map(({ id }) => String(id))
})

/** Reads the Status of an Assembly again. */
export const statusOf = ({ assembly_id }: Assembly.Status) => Assemblies.get(AssemblyId.make(assembly_id))

/** Creates an Assembly, and an upload for it. */
export const begin = Effect.fnUntraced(function* (
  headers: Readonly<Record<string, string>>,
  options: Assemblies.CreateOptions = {}
) {
  const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1, ...options })
  const { url } = yield* createUpload(assembly, headers)
  return { assembly, id: assembly.assembly_id, url }
})

/** Checks that a tus request was refused with a line of text. */
export const refusedByTus = (
  answer: { readonly status: number; readonly text: string },
  status: number,
  code: string
) => {
  assert.strictEqual(answer.status, status)
  assert.match(answer.text, new RegExp(`^${code}: .+\\n$`))
}

/** Creates an Assembly, uploads one file to the Assembly, and returns its Status after the upload. */
export const uploadOne = Effect.fnUntraced(function* (
  options: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">,
  content: Uint8Array
) {
  const status = yield* Assemblies.create({ ...options, numExpectedUploadFiles: 1 })
  const { url } = yield* createUpload(status, { "upload-length": String(content.length) })
  if (content.length > 0) yield* patch(url, 0, content)
  return yield* statusOf(status)
})

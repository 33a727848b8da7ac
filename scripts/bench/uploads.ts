/** Uploads for several rows: with our library, with tus-js-client and with raw node:http. */
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as fs from "node:fs"
import { truncate, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import * as TusClient from "tus-js-client"
import * as Harness from "./harness.ts"

export const mebi = 1024 * 1024

export const metadata = { filename: "a.bin", fieldname: "file" }

const toOrigin = Effect.map(({ port }: { readonly port: number }) => `http://127.0.0.1:${port}`)

/** The origin of a server that counts bytes, see `servers/sink.ts`. */
export const sink = (env: Readonly<Record<string, string>> = {}) =>
  toOrigin(Harness.child(new URL("servers/sink.ts", import.meta.url), { env }))

/** The origin of one that cuts connections. */
export const cutting = (every: number) => sink({ CUT_EVERY: String(every) })

/** Creates a sparse file of the given size, which is deleted with the scope. */
export const file = (bytes: number) =>
  Effect.gen(function* () {
    const path = join(yield* Harness.folder, "file")
    yield* Harness.attempt(async () => {
      await writeFile(path, "")
      await truncate(path, bytes)
    })
    return path
  })

/** An upload target at an origin. */
export const target = (origin: string) =>
  UploadTarget.make({ tusUrl: `${origin}/resumable/files`, assemblySslUrl: `${origin}/assemblies/1` }).pipe(
    Harness.orFail
  )

/** Uploads a file with our library. */
export const oursTo = (to: UploadTarget.UploadTarget, path: string, options?: Partial<Upload.Options>) =>
  Effect.flatMap(UploadSource.fromPath(path), (source) => Upload.run(to, source, { metadata, ...options })).pipe(
    Harness.orFail
  )

/** Uploads a file with our library, as the first upload to an origin. */
export const ours = (origin: string, path: string, options?: Partial<Upload.Options>) =>
  Effect.flatMap(target(origin), (to) => oursTo(to, path, options))

/** Uploads any source with our library. */
export const oursOf = (origin: string, source: UploadSource.UploadSource, options?: Partial<Upload.Options>) =>
  Effect.flatMap(target(origin), (to) => Upload.run(to, source, { metadata, ...options })).pipe(Harness.orFail)

/** The Layer that a program on Node uses by default. */
export const node = AssemblyNode.layer({
  baseUrl: "http://127.0.0.1",
  key: "key",
  secret: Redacted.make("secret")
}).pipe(Layer.orDie)

/** The services that an upload of `ours` needs. */
export type Services = Layer.Success<typeof node>

/** A client that an application has wrapped, so that our library does not know how the client uses a body. */
export const layerForeign = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.mapRequest((given) => given)
  )
)

/** Runs the same work with an unknown client, which the uploads of the Layer get too. */
export const withForeign = <A, E>(effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E, Services> =>
  Effect.provide(effect, Layer.provideMerge(Upload.layer, layerForeign))

/** The name of a figure with the unknown client. */
export const foreign = (peer: string) => `${peer}; a client that is not known`

export const withNode = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, node)

/** Uploads a file with tus-js-client, as in its documentation. */
export const theirs = (
  origin: string,
  path: string,
  size: number,
  options?: { readonly chunkSize?: number; readonly parallelUploads?: number; readonly isDuringCreation?: boolean }
): Effect.Effect<void, Harness.BenchError> =>
  Harness.attempt(
    () =>
      new Promise<void>((resolve, reject) => {
        const upload = new TusClient.Upload(fs.createReadStream(path), {
          endpoint: `${origin}/resumable/files`,
          metadata: { ...metadata, assembly_url: `${origin}/assemblies/1` },
          // tus-js-client reads the size of a file itself, and refuses an explicit size with parallel uploads.
          ...(options?.parallelUploads === undefined ? { uploadSize: size } : {}),
          chunkSize: options?.chunkSize ?? Infinity,
          uploadDataDuringCreation: options?.isDuringCreation === true,
          ...(options?.parallelUploads === undefined ? {} : { parallelUploads: options.parallelUploads }),
          onSuccess: () => resolve(),
          onError: reject
        })
        upload.start()
      })
  )

/** The minimum code that sends a file through node:http. */
export const raw = (origin: string, path: string, size: number, highWaterMark: number) =>
  Harness.attempt(
    () =>
      new Promise<void>((resolve, reject) => {
        const to = request(
          `${origin}/resumable/files/raw`,
          { method: "PATCH", headers: { "content-length": size, "upload-offset": 0 } },
          (response) => response.resume().on("end", resolve)
        )
        to.on("error", reject)
        fs.createReadStream(path, { highWaterMark }).pipe(to)
      })
  )

const files = {
  stat: promisify(fs.stat),
  open: promisify<string, number>(fs.open),
  read: promisify(fs.read),
  fstat: promisify(fs.fstat),
  close: promisify(fs.close)
}

/**
 * Reads a small file with the same file system calls as our library, which reads the size first and detects a change
 * afterwards.
 */
export const readSmall = async (path: string, size: number) => {
  await files.stat(path)
  const descriptor = await files.open(path)
  const { buffer } = await files.read(descriptor, new Uint8Array(size), 0, size, 0)
  await files.fstat(descriptor)
  await files.close(descriptor)
  return buffer
}

/** The minimum code that sends a small file through undici. */
export const rawSmall = (origin: string, path: string, size: number) =>
  Harness.attempt(async () => {
    const buffer = await readSmall(path, size)
    const { body } = await Undici.request(`${origin}/resumable/files`, {
      method: "POST",
      headers: { "content-type": "application/offset+octet-stream", "upload-length": `${size}` },
      body: buffer
    })
    await body.dump()
  })

/** The processor time of all threads of this process, in seconds. */
export const cpuSeconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = process.cpuUsage()
    return Effect.map(effect, () => {
      const { system, user } = process.cpuUsage(start)
      return (system + user) / 1e6
    })
  })

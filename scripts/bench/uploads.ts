/** What the rows of uploads share: our side, tus-js-client, and raw node:http. */
import * as UndiciClient from "@assembly-effect/node/UndiciClient"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { mkdtemp, open, rm } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as TusClient from "tus-js-client"
import * as Harness from "./harness.ts"

export const mebi = 1024 * 1024

const metadata = { filename: "a.bin", fieldname: "file" }

export const sink = (env: Readonly<Record<string, string>> = {}) =>
  Effect.suspend(() => {
    // The harness forks with the environment of this process.
    Object.assign(process.env, env)
    return Harness.child(new URL("sink.ts", import.meta.url))
  }).pipe(
    Effect.map(({ port }) => `http://127.0.0.1:${port}`),
    Effect.ensuring(
      Effect.sync(() => {
        for (const key of Object.keys(env)) delete process.env[key]
      })
    )
  )

/** A file of so many bytes, sparse, which ends with the scope. */
export const file = (bytes: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "bench-"))
      const path = join(folder, "file")
      const handle = await open(path, "w")
      await handle.truncate(bytes)
      await handle.close()
      return { folder, path }
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true }))
  ).pipe(Effect.map(({ path }) => path))

const toBenchError = (error: { readonly message: string }) => new Harness.BenchError(error.message)

/** Where an origin takes uploads. */
export const target = (origin: string) =>
  UploadTarget.make({ tusUrl: `${origin}/resumable/files`, assemblySslUrl: `${origin}/assemblies/1` }).pipe(
    Effect.mapError(toBenchError)
  )

/** Our upload of a file. */
export const oursTo = (to: UploadTarget.UploadTarget, path: string, options?: Partial<Upload.Options>) =>
  Effect.gen(function* () {
    const source = yield* UploadSource.fromPath(path)
    return yield* Upload.run(to, source, { metadata, ...options })
  }).pipe(Effect.mapError(toBenchError))

/** The same, as the first upload to an origin. */
export const ours = (origin: string, path: string, options?: Partial<Upload.Options>) =>
  Effect.flatMap(target(origin), (to) => oursTo(to, path, options))

/** Our upload of any source. */
export const oursOf = (origin: string, source: UploadSource.UploadSource, options?: Partial<Upload.Options>) =>
  Effect.flatMap(target(origin), (to) => Upload.run(to, source, { metadata, ...options })).pipe(
    Effect.mapError(toBenchError)
  )

const clients = {
  /** Lets go of what it has sent, as uploads know. */
  known: UndiciClient.layer,
  undici: NodeHttpClient.layerUndici,
  fetch: NodeHttpClient.layerFetch
}

const isClient = (name: string | undefined): name is keyof typeof clients => name !== undefined && name in clients

const { BENCH_CLIENT: named } = process.env

/** The HTTP client that `BENCH_CLIENT` names, one of `known`, `undici` and `fetch`; `known` by default. */
const client = clients[isClient(named) ? named : "known"]

export const undici = Layer.merge(client, NodeFileSystem.layer)

export const withUndici = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, undici)

/** The upload of a file with tus-js-client, as its documentation shows it. */
export const theirs = (
  origin: string,
  path: string,
  size: number,
  options?: { readonly chunkSize?: number; readonly parallelUploads?: number }
): Effect.Effect<void, Harness.BenchError> =>
  Harness.attempt(
    () =>
      new Promise<void>((resolve, reject) => {
        const upload = new TusClient.Upload(fs.createReadStream(path), {
          endpoint: `${origin}/resumable/files`,
          metadata: { ...metadata, assembly_url: `${origin}/assemblies/1` },
          // It reads the size of a file by itself, and refuses to be told one where it uploads in parallel.
          ...(options?.parallelUploads === undefined ? { uploadSize: size } : {}),
          chunkSize: options?.chunkSize ?? Infinity,
          ...(options?.parallelUploads === undefined ? {} : { parallelUploads: options.parallelUploads }),
          onSuccess: () => resolve(),
          onError: reject
        })
        upload.start()
      })
  )

/** The least that moves a file through node:http. */
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
 * The least that moves a small file through undici: the same calls of the file system as ours, since the size is told
 * before the bytes are read and a change in between is noticed, and one request.
 */
export const rawSmall = (origin: string, path: string, size: number) =>
  Harness.attempt(async () => {
    await files.stat(path)
    const descriptor = await files.open(path)
    const { buffer } = await files.read(descriptor, new Uint8Array(size), 0, size, 0)
    await files.fstat(descriptor)
    await files.close(descriptor)
    const { body } = await Undici.request(`${origin}/resumable/files`, {
      method: "POST",
      headers: { "content-type": "application/offset+octet-stream", "upload-length": `${size}` },
      body: buffer
    })
    await body.dump()
  })

/** Seconds of processor time, all threads of this process. */
export const cpuSeconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = process.cpuUsage()
    return Effect.map(effect, () => {
      const { system, user } = process.cpuUsage(start)
      return (system + user) / 1e6
    })
  })

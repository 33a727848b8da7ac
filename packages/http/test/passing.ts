/** An application with the route of PassThrough, the emulator behind it, and what a user sends. */
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Credentials } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import { PassThrough } from "@assembly-effect/http"
import { Assembly } from "@assembly-effect/schema"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import { AssemblyUpload } from "@assembly-effect/tus"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http/HttpClient"
import { open, serve } from "./support.ts"

/** The service, a client of it, and HTTP itself. */
export const live = AssemblyUpload.layer.pipe(
  Layer.provideMerge(Client.signed()),
  Layer.provideMerge(Layer.merge(Emulator.layer(), NodeHttpClient.layerUndici))
)

const steps = { ":original": { robot: "/upload/handle" } }

let ids = 0
/** An id of an upload, as a page would choose it. */
export const newUploadId = (): string => `upload-of-the-test-${++ids}`

/** An application that notes the Assembly of each file that its policy permits. */
export const application = Effect.fnUntraced(function* <Fields = Readonly<Record<string, string>>>(
  options: Partial<PassThrough.Options<never, Fields>> = {},
  grant: Partial<PassThrough.Grant> = {}
) {
  const assemblies: Array<Assembly.AssemblyId> = []
  const files: Array<PassThrough.UserFile<Fields>> = []
  const routes = PassThrough.layer<never, Fields>({
    policy: (file) =>
      Effect.gen(function* () {
        const assemblyId = yield* Assemblies.newId
        assemblies.push(assemblyId)
        files.push(file)
        return { maxBytes: 64 * 1024 * 1024, ...grant, params: { steps, ...grant.params, assemblyId } }
      }),
    ...options
  })
  const services = Layer.mergeAll(
    Layer.succeed(AssemblyClient.AssemblyClient, yield* AssemblyClient.AssemblyClient),
    Layer.succeed(AssemblyUpload.AssemblyUpload, yield* AssemblyUpload.AssemblyUpload),
    Layer.succeed(Credentials.Credentials, yield* Credentials.Credentials),
    Layer.succeed(HttpClient, yield* HttpClient)
  )
  const served = yield* serve(routes.pipe(Layer.provide(services)))
  /** How the Assemblies ended. One that was never created has no state. */
  const states = Effect.forEach(assemblies, (id) =>
    Effect.map(Effect.result(Assemblies.get(id)), (found) =>
      Result.isSuccess(found) ? Assembly.state(found.success) : undefined
    )
  )
  return { ...served, states, files, assemblies }
})

/** The form of a file, as text around its bytes. */
export const before = (fields: Readonly<Record<string, string>> = {}, filename = "a.bin"): string =>
  Object.entries(fields)
    .map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join("") +
  `--b\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: video/mp4\r\n\r\n`
export const last = <A>(all: ReadonlyArray<A>): A => {
  const found = all.at(-1)
  if (found === undefined) throw new Error("nothing is there")
  return found
}

export const after = "\r\n--b--\r\n"
export const type = { "content-type": "multipart/form-data; boundary=b" }
export const chunked = { ...type, "transfer-encoding": "chunked" }

export interface SeenEvent {
  readonly _tag: string
  readonly description?: string
  readonly bytes?: number
  readonly acknowledged?: string
}

/** Opens the events of an upload. */
export const watch = Effect.fnUntraced(function* (port: number, uploadId: string, headers = "") {
  const raw = yield* open(port)
  yield* raw.write(`GET /assembly-uploads/${uploadId} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`)
  const events = (): ReadonlyArray<SeenEvent> =>
    [...raw.received().matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as SeenEvent)
  return { ...raw, events, tags: () => events().map(({ _tag }) => _tag) }
})

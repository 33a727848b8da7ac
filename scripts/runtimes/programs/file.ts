/** Runs in a page. Uploads the file that is chosen in the input, and reports the times without progress. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Config } from "../checks.ts"

const config: Config = await (await fetch("/runtimes/config")).json()

/**
 * Uploads a file. `first` is the time until the first progress, and `longest` the longest later pause, in milliseconds.
 */
const upload = (file: File) =>
  Effect.gen(function* () {
    const created = yield* Assemblies.create({
      steps: { ":original": { robot: "/upload/handle" } },
      numExpectedUploadFiles: 1
    })
    const target = yield* UploadTarget.fromAssembly(created)
    const metadata = { filename: file.name, fieldname: "file" }
    let movedAt = performance.now()
    let first = 0
    let longest = 0
    let acknowledged = 0n
    yield* Stream.runForEach(Upload.events(target, UploadSource.fromBlob(file), { metadata }), (event) =>
      Effect.sync(() => {
        if (!UploadEvent.$is("Progress")(event) || event.acknowledged === acknowledged) return
        const now = performance.now()
        if (acknowledged === 0n) first = now - movedAt
        else longest = Math.max(longest, now - movedAt)
        acknowledged = event.acknowledged
        movedAt = now
      })
    )
    return { bytes: Number(acknowledged), first, longest }
  })

const client = AssemblyClient.layer({ baseUrl: config.baseUrl }).pipe(
  Layer.provide(Authenticator.layerSigned()),
  Layer.provide(Credentials.layer({ key: config.key, secret: Redacted.make(config.secret) })),
  Layer.provideMerge(FetchHttpClient.layer)
)

const post = (body: unknown) => fetch("/runtimes/report", { method: "POST", body: JSON.stringify(body) })

const input = document.querySelector("input")
input?.addEventListener("change", () => {
  const [file] = input.files ?? []
  if (file === undefined) return
  Effect.runPromise(Effect.provide(upload(file), client)).then(post, (error) => post({ problem: String(error) }))
})
document.title = "ready"

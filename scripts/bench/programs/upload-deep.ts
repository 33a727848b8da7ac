/** The work of a page: it uploads a File, shows the progress, and continues an upload at a stored URL. */
import * as Upload from "@assembly-effect/tus/Upload"
import type * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Effect from "effect/Effect"
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

export const upload = (
  file: File,
  assembly: { readonly tusUrl: string; readonly assemblySslUrl: string },
  kept: string | undefined,
  show: (event: UploadEvent.UploadEvent) => void
) =>
  Effect.gen(function* () {
    const target = yield* UploadTarget.make(assembly)
    const source = UploadSource.fromBlob(file)
    const options = { metadata: { filename: file.name, fieldname: "file" } }
    const events =
      kept === undefined
        ? Upload.events(target, source, options)
        : Upload.resumeEvents(
            { target, url: yield* Effect.fromResult(UploadTarget.resolve(target, kept)), ...options },
            source
          )
    yield* Stream.runForEach(events, (event) => Effect.sync(() => show(event)))
  }).pipe(Effect.provide(Upload.layer.pipe(Layer.provide(FetchClient.layer))), Effect.runPromise)

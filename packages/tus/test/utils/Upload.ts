/**
 * The functions of `Upload` with the HTTP client of the caller, and without a journal. `journaled` has the same functions
 * with the journal of the caller.
 */
import type { UploadJournal } from "@assembly-effect/tus/UploadJournal"
import * as Upload from "@assembly-effect/tus/Upload"
import { Context, Effect, type Layer, Sink, Stream } from "effect"
import type * as HttpClient from "effect/http/HttpClient"

export * from "@assembly-effect/tus/Upload"

const over = <R>(services: Layer.Layer<Upload.Upload, never, R>) => ({
  run: (...args: Parameters<typeof Upload.run>) => Effect.provide(Upload.run(...args), services),
  events: (...args: Parameters<typeof Upload.events>) => Stream.provide(Upload.events(...args), services),
  resume: (...args: Parameters<typeof Upload.resume>) => Effect.provide(Upload.resume(...args), services),
  resumeEvents: (...args: Parameters<typeof Upload.resumeEvents>) =>
    Stream.provide(Upload.resumeEvents(...args), services)
})

export const { events, resume, resumeEvents, run } = over<HttpClient.HttpClient>(Upload.layer)

export const journaled = over<HttpClient.HttpClient | UploadJournal>(Upload.layerJournaled)

export const sink = (...args: Parameters<typeof Upload.sink>) =>
  Sink.unwrap(
    Effect.map(Effect.provide(Upload.Upload, Upload.layer), (service) =>
      Sink.provideContext(Upload.sink(...args), Context.make(Upload.Upload, service))
    )
  )

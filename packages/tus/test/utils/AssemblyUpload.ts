/**
 * The functions of `AssemblyUpload` with the services of the caller, and without a journal. `journaled` has the same
 * functions with the journal of the caller.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { AssemblyUpload } from "@assembly-effect/tus"
import type { UploadJournal } from "@assembly-effect/tus/UploadJournal"
import { Effect, type Layer, Stream } from "effect"
import type { HttpClient } from "effect/http"

export * from "@assembly-effect/tus/AssemblyUpload"

const over = <R>(services: Layer.Layer<AssemblyUpload.AssemblyUpload, never, R>) => ({
  run: <R2 = never>(options: AssemblyUpload.Options<R2>) => Effect.provide(AssemblyUpload.run(options), services),
  events: <R2 = never>(options: AssemblyUpload.Options<R2>) => Stream.provide(AssemblyUpload.events(options), services),
  batch: <J, E, R3, RS = never>(
    jobs: Stream.Stream<AssemblyUpload.Exact<J> & AssemblyUpload.Job<RS>, E, R3>,
    options: AssemblyUpload.AllOptions = {}
  ) => Stream.provide(AssemblyUpload.runAll(jobs, options), services)
})

type Services = AssemblyClient | HttpClient.HttpClient

export const { batch, events, run } = over<Services>(AssemblyUpload.layer)

export const journaled = over<Services | UploadJournal>(AssemblyUpload.layerJournaled)

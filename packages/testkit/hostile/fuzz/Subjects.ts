/**
 * The functions of the packages that read a response.
 */
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Credentials, Tokens, Webhook } from "@assembly-effect/auth"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import { Tus, Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { DateTime, Duration, Effect, Layer, Redacted, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { createHmac } from "node:crypto"
import * as Fake from "../../../api/test/utils/FakeService.ts"
import * as Operations from "../../../api/test/utils/operations.ts"
import type { Draw } from "./Draw.ts"
import * as Mutation from "./Mutation.ts"
import * as Service from "./Service.ts"

/** The fields that every error of the packages has. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

/**
 * A subject that reads responses of the service at `baseUrl`. `count` is called for a response that does not come over
 * HTTP.
 */
export interface Subject {
  readonly name: string
  readonly run: (
    baseUrl: string,
    draw: Draw,
    count: () => void
  ) => Effect.Effect<unknown, Failure, HttpClient.HttpClient>
}

const bytes = new Uint8Array(Service.size)
const metadata = { filename: "a.bin", fieldname: "file" }

const target = (baseUrl: string) =>
  UploadTarget.make({
    tusUrl: `${baseUrl}/resumable/files`,
    assemblySslUrl: `${baseUrl}/assemblies/${Service.assemblyId}`
  })

/** The time limits and pauses of the subjects. */
export interface Pace {
  readonly requestTimeout: Duration.Input
  readonly deadline: Duration.Input
  readonly interval: Duration.Input
  readonly maxWait: Duration.Input
}

/** The usual time limits of a program, for runs with a virtual clock. */
export const ordinary: Pace = {
  requestTimeout: "1 minute",
  deadline: "5 minutes",
  interval: "1 second",
  maxWait: "1 hour"
}

const credentials = Credentials.layer({ key: "key", secret: Redacted.make("secret") })

const api = (
  name: string,
  { deadline, requestTimeout }: Pace,
  run: Effect.Effect<unknown, Failure, AssemblyClient.AssemblyClient>
): Subject => ({
  name,
  run: (baseUrl) =>
    Effect.provide(
      run,
      AssemblyClient.layer({ baseUrl, requestTimeout, deadline }).pipe(Layer.provide(Fake.authenticated))
    )
})

const tus = (
  name: string,
  { requestTimeout }: Pace,
  run: (
    to: UploadTarget.UploadTarget,
    url: UploadTarget.UploadUrl
  ) => Effect.Effect<unknown, Failure, HttpClient.HttpClient>
): Subject => ({
  name: `Tus.${name}`,
  run: (baseUrl) =>
    Effect.gen(function* () {
      const to = yield* target(baseUrl)
      const url = yield* Effect.fromResult(UploadTarget.resolve(to, `${baseUrl}/resumable/files/a`))
      return yield* Effect.provideService(run(to, url), Tus.RequestTimeout, Duration.fromInputUnsafe(requestTimeout))
    })
})

const upload = (
  name: string,
  { maxWait, requestTimeout }: Pace,
  source: UploadSource.UploadSource,
  options: Partial<Upload.Options> = {}
): Subject => ({
  name: `Upload of ${name}`,
  run: (baseUrl) =>
    Effect.flatMap(target(baseUrl), (to) =>
      Stream.runDrain(
        Upload.events(to, source, {
          metadata,
          maxRetries: 3,
          retryDelay: "1 millis",
          stallTimeout: requestTimeout,
          finishTimeout: requestTimeout,
          maxWait,
          ...options
        })
      )
    ).pipe(
      Effect.provide(Upload.layer),
      Effect.provideService(Tus.RequestTimeout, Duration.fromInputUnsafe(requestTimeout))
    )
})

/** Reads a malformed notification with a valid signature, because the service itself may be the attacker. */
const webhook: Subject = {
  name: "Webhook.verify",
  run: (baseUrl, draw, count) => {
    const right = Service.make(baseUrl)({
      method: "GET",
      path: `/assemblies/${Service.assemblyId}`,
      headers: {},
      bytes: 0
    })
    const transloadit = new TextDecoder().decode(Mutation.mutate(draw, right).body)
    const signature = `sha384:${createHmac("sha384", "secret").update(transloadit).digest("hex")}`
    count()
    return Effect.provide(Webhook.verify({ transloadit, signature }), Webhook.layer().pipe(Layer.provide(credentials)))
  }
}

const token = ({ requestTimeout }: Pace): Subject => ({
  name: "Tokens.get",
  run: (baseUrl) =>
    Tokens.Tokens.use(({ get }) => get({ baseUrl: SecureUrl.make(baseUrl), scope: "assemblies:read" })).pipe(
      Effect.provide(Tokens.layer({ requestTimeout }).pipe(Layer.provide(credentials)))
    )
})

const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")

const first = bytes.subarray(0, 5)
const small = UploadSource.fromBytes(bytes.subarray(0, 1000))
const large = UploadSource.fromBytes(bytes)
const oneShot = UploadSource.fromStream(Stream.make(bytes.subarray(0, 300_000), bytes.subarray(300_000)))

/** All subjects, with the given times. */
export const all = (pace: Pace): ReadonlyArray<Subject> => {
  // A program that sends bodies with `Tus` sets its own time limit.
  const { interval, requestTimeout: ofBody } = pace
  return [
    ...Operations.cases.map(({ name, run }) => api(name, pace, run)),
    api("Assemblies.create, as it is called", pace, Assemblies.create({ templateId: "t" })),
    api("Assemblies.cancel, as it is called", pace, Assemblies.cancel(Service.assemblyId)),
    api("Assemblies.listAll", pace, Stream.runDrain(Stream.take(Assemblies.listAll({ fromDate }), 500))),
    api("Assemblies.watch", pace, Stream.runDrain(Assemblies.watch(Service.assemblyId, { interval }))),
    token(pace),
    webhook,
    tus("create", pace, (to) => Tus.create(to, { _tag: "Fixed", length: 5n, metadata })),
    tus("create, with a body", pace, (to) =>
      Effect.timeout(Tus.create(to, { _tag: "Fixed", length: 5n, metadata, body: first }), ofBody)
    ),
    tus("offset", pace, (_, url) => Tus.offset(url)),
    tus("append", pace, (_, url) => Effect.timeout(Tus.append(url, { offset: 0n, body: first }), ofBody)),
    tus("terminate", pace, (_, url) => Tus.terminate(url)),
    tus("discover", pace, (to) => Tus.discover(to)),
    tus("download", pace, (_, url) => Stream.runDrain(Stream.take(Tus.download(url), 1000))),
    upload("a small file", pace, small),
    upload("a large file", pace, large),
    upload("a stream", pace, oneShot, { chunkSize: 200_000 })
  ]
}

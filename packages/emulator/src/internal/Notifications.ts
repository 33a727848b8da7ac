import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { StorageFailed } from "../EmulatorError.ts"
import * as AssemblyStatus from "./AssemblyStatus.ts"
import * as AssemblyStore from "./AssemblyStore.ts"
import * as AuthKeys from "./AuthKeys.ts"
import type * as CreationOptions from "./CreationOptions.ts"
import * as Ids from "./Ids.ts"
import * as NotificationStore from "./NotificationStore.ts"
import * as Storage from "./Storage.ts"

/**
 * Tells somebody that an Assembly is over: a POST to its `notify_url` with the Status and a signature of it, repeated
 * until it is answered with 200 (service facts, "Webhooks").
 */
export class Notifications extends Context.Service<
  Notifications,
  {
    /** Notifies in the background, if the Assembly has a `notify_url`. */
    readonly notify: (assemblyId: string) => Effect.Effect<void>
    /** Notifies once more, in the background. Answers the id of the attempt. */
    readonly replay: (assemblyId: string, url: string) => Effect.Effect<string, StorageFailed>
  }
>()("@assembly-effect/emulator/Notifications") {}

/** How often somebody is notified who does not answer with 200. */
const maxAttempts = 8

/** How long an answer may take. */
const answerTimeout = Duration.seconds(30)

/** Characters of an answer that are kept. */
const maxExcerpt = 1024

/** The pause after so many attempts: the first one doubles each time. */
const pauseAfter = (attempts: number, first: Duration.Duration): Duration.Duration =>
  Duration.times(first, 2 ** (attempts - 1))

const excerptOf = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.take(1),
    Stream.mkString,
    Effect.map((text) => text.slice(0, maxExcerpt)),
    // An answer without a body, or one that breaks off, has answered all the same.
    Effect.orElseSucceed(() => "")
  )

/**
 * A form as the bytes of a body. `fetch` reads a form that it is given while it sends it, and where nobody is there it
 * rejects a promise that nobody holds.
 */
const serialize = (form: FormData): Effect.Effect<HttpBody.HttpBody> =>
  Effect.gen(function* () {
    const whole = new Response(form)
    const bytes = yield* Effect.promise(() => whole.bytes())
    return HttpBody.uint8Array(bytes, whole.headers.get("content-type") ?? "")
  })

const withoutMeta = (files: ReadonlyArray<Assembly.File>): ReadonlyArray<Assembly.File> =>
  files.map(({ meta: _meta, ...file }) => file)

/** A Status without what its Assembly asked to leave out (service facts, `notification_payload`). */
const payloadOf = (status: Assembly.Status, leaveOut: ReadonlyArray<CreationOptions.Payload>): Assembly.Status => {
  const { results, uploads, ...rest } = status
  const has = (part: CreationOptions.Payload) => !leaveOut.includes(part)
  return {
    // It never holds the params, so `without_params` takes nothing away.
    ...rest,
    ...(has("without_uploads")
      ? { uploads: has("without_upload_meta_data") ? (uploads ?? null) : withoutMeta(uploads ?? []) }
      : {}),
    ...(has("without_results")
      ? { results: has("without_result_meta_data") ? (results ?? null) : Record.map(results ?? {}, withoutMeta) }
      : {})
  }
}

const make = Effect.fnUntraced(function* (firstPause: Duration.Duration) {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const authKeys = yield* AuthKeys.AuthKeys
  const http = HttpClient.withScope(yield* HttpClient.HttpClient)
  const mac = yield* Mac.Mac
  const random = yield* SecureRandom.SecureRandom
  const sent = yield* NotificationStore.NotificationStore
  const statuses = yield* AssemblyStatus.AssemblyStatus
  const running = yield* FiberSet.make()

  /** The form that is sent: what is signed is the text of the Status, exactly as it stands there. */
  const formOf = Effect.fnUntraced(
    function* (assembly: AssemblyStore.Row) {
      const text = JSON.stringify(payloadOf(yield* statuses.of(assembly), assembly.notification_payload))
      const authKey = yield* authKeys.find(assembly.auth_key ?? "")
      const form = new FormData()
      form.set("transloadit", text)
      if (Option.isSome(authKey)) {
        const signer = yield* Effect.orDie(Signer.make({ secret: authKey.value.secret }))
        form.set("signature", Redacted.value(yield* signer.sign(text)))
      }
      return yield* serialize(form)
    },
    Effect.provideService(Mac.Mac, mac)
  )

  const post = (url: string, body: HttpBody.HttpBody): Effect.Effect<NotificationStore.Outcome> =>
    http.execute(HttpClientRequest.post(url).pipe(HttpClientRequest.setBody(body))).pipe(
      Effect.flatMap(({ status, stream }) =>
        Effect.map(excerptOf(stream), (data) => ({ code: status, data, error: undefined }))
      ),
      Effect.scoped,
      Effect.timeout(answerTimeout),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.catch(({ _tag }) =>
        Effect.succeed({
          code: undefined,
          data: undefined,
          error: _tag === "TimeoutError" ? "There was no answer in time." : "The connection failed."
        })
      )
    )

  const attempt = Effect.fnUntraced(function* (id: string, assembly: AssemblyStore.Row, url: string) {
    yield* Storage.untilKept(sent.begin(id, assembly.id, url))
    const outcome = yield* Effect.flatMap(Storage.untilKept(formOf(assembly)), (body) => post(url, body))
    yield* Storage.untilKept(sent.end(id, outcome))
    return outcome.code === 200
  })

  const newId = Effect.provideService(Ids.hex, SecureRandom.SecureRandom, random)

  const deliver = Effect.fnUntraced(function* (assembly: AssemblyStore.Row, url: string, before: number) {
    for (let attempts = before + 1; attempts <= maxAttempts; attempts++) {
      if (yield* attempt(yield* newId, assembly, url)) return
      if (attempts < maxAttempts) yield* Effect.sleep(pauseAfter(attempts, firstPause))
    }
  })

  const inBackground = (work: Effect.Effect<unknown>) =>
    Effect.asVoid(
      FiberSet.run(
        running,
        Effect.catchDefect(work, (defect) => Effect.logError("A notification failed", defect))
      )
    )

  const withAssembly = (id: string, work: (assembly: AssemblyStore.Row) => Effect.Effect<void>) =>
    Effect.flatMap(assemblies.find(id), Option.match({ onNone: () => Effect.void, onSome: work }))

  for (const { attempts, id, url } of yield* sent.recover) {
    yield* withAssembly(id, (assembly) => inBackground(deliver(assembly, url, attempts)))
  }

  return Notifications.of({
    notify: (id) =>
      inBackground(
        Storage.untilKept(
          withAssembly(id, (assembly) =>
            assembly.notify_url === null ? Effect.void : deliver(assembly, assembly.notify_url, 0)
          )
        )
      ),
    replay: Effect.fnUntraced(function* (assemblyId, url) {
      const id = yield* newId
      yield* withAssembly(assemblyId, (assembly) => inBackground(attempt(id, assembly, url)))
      return id
    })
  })
})

/** `firstPause` is the time between the first attempt and the second. */
export const layer = (
  firstPause: Duration.Duration
): Layer.Layer<
  Notifications,
  StorageFailed,
  | AssemblyStatus.AssemblyStatus
  | AssemblyStore.AssemblyStore
  | AuthKeys.AuthKeys
  | NotificationStore.NotificationStore
  | SecureRandom.SecureRandom
> =>
  Layer.effect(Notifications, make(firstPause)).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto)))
  )

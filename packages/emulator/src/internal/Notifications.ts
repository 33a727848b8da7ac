import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { StorageFailed } from "../EmulatorError.ts"
import * as Limits from "../Limits.ts"
import * as AssemblyStatus from "./AssemblyStatus.ts"
import * as AssemblyStore from "./AssemblyStore.ts"
import * as AuthKeys from "./AuthKeys.ts"
import type * as CreationOptions from "./CreationOptions.ts"
import * as Ids from "./Ids.ts"
import * as NotificationStore from "./NotificationStore.ts"
import * as Outbound from "./Outbound.ts"
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
    /**
     * Notifies once more, in the background. Answers the id of the attempt. `isSigned` is whether the URL came with a
     * signature.
     */
    readonly replay: (assemblyId: string, url: string, isSigned: boolean) => Effect.Effect<string, StorageFailed>
  }
>()("@assembly-effect/emulator/Notifications") {}

/** How often somebody is notified who does not answer with 200. */
const maxAttempts = 8

/** How long an answer may take. */
const answerTimeout = Duration.seconds(30)

/** How long its body is waited for, once its status is there. */
const bodyTimeout = Duration.seconds(1)

/** Characters of an answer that are kept. No more is read. */
const maxExcerpt = 1024

/** The pause after so many attempts: the first one doubles each time. */
const pauseAfter = (attempts: number, first: Duration.Duration): Duration.Duration =>
  Duration.times(first, 2 ** (attempts - 1))

/** The beginning of a body: as far as it came. One that breaks off has answered all the same. */
const excerptOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<string> =>
  bytes.pipe(
    Stream.interruptWhen(Effect.sleep(bodyTimeout)),
    Stream.catch(() => Stream.empty),
    Stream.decodeText(),
    Stream.scan(
      () => "",
      (text, piece) => text + piece
    ),
    Stream.takeUntil((text) => text.length >= maxExcerpt),
    Stream.runLast,
    Effect.map((text) => Option.getOrElse(text, () => "").slice(0, maxExcerpt))
  )

/** A form as the bytes of a body: a repetition sends the same. */
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

/**
 * Who signs the URL of a notification may let this machine be asked; everybody else only who is public. `notify_url`
 * would else be a way into the network of this machine.
 */
const reachOf = (isSigned: boolean, allowPrivate: boolean): Outbound.Reach =>
  allowPrivate ? "any" : isSigned ? "loopback" : "public"

const outOfReach = (hostname: string, reach: Outbound.Reach): string =>
  `The host ${hostname} is not public: ` +
  (reach === "public" ? "Create the Assembly with a signature to notify this machine. " : "") +
  "The option allowPrivateNotifications (--allow-private-notifications) allows any host."

/** What becomes of an attempt that had no answer. */
const unanswered = (error: string, isFinal = false) => ({ code: undefined, data: undefined, error, isFinal })

/** What became of an attempt, and whether another one would end in the same way. */
interface Outcome extends NotificationStore.Outcome {
  readonly isFinal: boolean
}

/** The time between the first attempt and the second, and whether any host may be notified. */
interface Options {
  readonly firstPause: Duration.Duration
  readonly allowPrivate: boolean
}

const make = Effect.fnUntraced(function* ({ allowPrivate, firstPause }: Options) {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const authKeys = yield* AuthKeys.AuthKeys
  const mac = yield* Mac.Mac
  const outbound = yield* Outbound.Outbound
  const random = yield* SecureRandom.SecureRandom
  const sent = yield* NotificationStore.NotificationStore
  const statuses = yield* AssemblyStatus.AssemblyStatus
  const limits = yield* Limits.Limits
  const running = yield* FiberSet.make()
  // That something may have become due, or that there is room.
  const wakes = yield* Queue.sliding<void>(1)
  let underWay = 0

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

  const post = (reach: Outbound.Reach, url: string, body: HttpBody.HttpBody): Effect.Effect<Outcome> =>
    outbound.execute(reach, HttpClientRequest.post(url).pipe(HttpClientRequest.setBody(body))).pipe(
      Effect.flatMap(({ status, stream }) =>
        Effect.map(excerptOf(stream), (data) => ({ code: status, data, error: undefined, isFinal: status === 200 }))
      ),
      Effect.scoped,
      Effect.timeout(answerTimeout),
      Effect.catchTags({
        HttpClientError: () => Effect.succeed(unanswered("The connection failed.")),
        NotHttp: () => Effect.succeed(unanswered("The URL is not one of http or https without credentials.", true)),
        OutOfReach: ({ hostname }) => {
          const error = outOfReach(hostname, reach)
          return Effect.as(Effect.logWarning(`A notification was refused: ${error}`), unanswered(error, true))
        },
        TimeoutError: () => Effect.succeed(unanswered("There was no answer in time."))
      })
    )

  const newId = Effect.provideService(Ids.hex, SecureRandom.SecureRandom, random)

  const schedule = Effect.fnUntraced(function* (due: Omit<NotificationStore.Due, "id">, after: Duration.Duration) {
    const id = yield* newId
    yield* sent.schedule({ ...due, id }, Math.ceil(Duration.toMillis(after)))
    yield* Queue.offer(wakes, undefined)
    return id
  })

  const attempt = Effect.fnUntraced(function* (due: NotificationStore.Due) {
    const assembly = yield* assemblies.find(due.assembly_id)
    if (Option.isNone(assembly)) return
    const body = yield* formOf(assembly.value)
    const { isFinal, ...outcome } = yield* post(reachOf(due.is_signed === 1, allowPrivate), due.url, body)
    yield* Storage.untilKept(sent.end(due.id, outcome))
    if (isFinal || due.attempt === 0 || due.attempt >= maxAttempts) return
    const { id: _id, ...next } = { ...due, attempt: due.attempt + 1 }
    yield* Storage.untilKept(schedule(next, pauseAfter(due.attempt, firstPause)))
  })

  const inBackground = (work: Effect.Effect<unknown>) =>
    Effect.asVoid(
      FiberSet.run(
        running,
        Effect.catchDefect(work, (defect) => Effect.logError("A notification failed", defect))
      )
    )

  const leave = Effect.suspend(() => {
    underWay--
    return Queue.offer(wakes, undefined)
  })

  /** Begins what is due, as far as there is room, then waits until more is due or has room. */
  const dispatch = Effect.gen(function* () {
    const room = limits.notifications - underWay
    const due = room > 0 ? yield* sent.begin(room) : []
    underWay += due.length
    for (const one of due) yield* inBackground(Effect.ensuring(Storage.untilKept(attempt(one)), leave))
    const next = underWay < limits.notifications ? yield* sent.nextIn : Option.none()
    const isDue = Option.match(next, { onNone: () => Effect.never, onSome: (millis) => Effect.sleep(millis) })
    yield* Effect.raceFirst(Queue.take(wakes), isDue)
  })

  const begin = Effect.fnUntraced(function* (assemblyId: string, attempts: number) {
    const assembly = yield* assemblies.find(assemblyId)
    if (Option.isNone(assembly) || assembly.value.notify_url === null) return
    const { is_signed, notify_url: url } = assembly.value
    yield* schedule({ assembly_id: assemblyId, url, is_signed, attempt: attempts + 1 }, Duration.zero)
  })

  for (const { attempts, id } of yield* sent.recover) if (attempts < maxAttempts) yield* begin(id, attempts)
  yield* Effect.forkScoped(Effect.forever(Storage.untilKept(dispatch)))

  return Notifications.of({
    // Kept before the end of the Assembly is told, unless the disk does not let it.
    notify: (id) => begin(id, 0).pipe(Effect.catch(() => inBackground(Storage.untilKept(begin(id, 0))))),
    replay: (assemblyId, url, isSigned) =>
      schedule({ assembly_id: assemblyId, url, is_signed: isSigned ? 1 : 0, attempt: 0 }, Duration.zero)
  })
})

export const layer = (
  options: Options
): Layer.Layer<
  Notifications,
  StorageFailed,
  | AssemblyStatus.AssemblyStatus
  | AssemblyStore.AssemblyStore
  | AuthKeys.AuthKeys
  | NotificationStore.NotificationStore
  | Outbound.Outbound
  | SecureRandom.SecureRandom
> =>
  Layer.effect(Notifications, make(options)).pipe(
    Layer.provide(Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto)))
  )

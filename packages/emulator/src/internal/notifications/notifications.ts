import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
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
import * as Limits from "../limits.ts"
import * as AssemblyStatus from "../assembly/assemblyStatus.ts"
import * as AssemblyStore from "../assembly/assemblyStore.ts"
import * as AuthKeys from "../auth/authKeys.ts"
import * as Ids from "../data/ids.ts"
import * as NotificationStore from "./notificationStore.ts"
import * as NotificationClient from "./notificationClient.ts"
import * as StorageFailure from "../data/storageFailure.ts"

/** The maximum number of attempts for one notification. */
const maxAttempts = 8

/** The time limit for the response to an attempt. */
const answerTimeout = Duration.seconds(30)

/** The time limit for the response body after the status has arrived. */
const bodyTimeout = Duration.seconds(1)

/** The maximum number of characters of a response body that are stored. */
const maxExcerpt = 1024

/**
 * Returns the first characters of a response body, at most `maxExcerpt`, as far as they arrive within `bodyTimeout`. An
 * error in the body is ignored, because the status has arrived.
 */
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

const withoutMeta = (files: ReadonlyArray<Assembly.File>): ReadonlyArray<Assembly.File> =>
  files.map(({ meta: _meta, ...file }) => file)

/** The Status without the parts that `notification_payload` omits. */
const payloadOf = (status: Assembly.Status, leaveOut: ReadonlyArray<Assembly.NotificationPayload>): Assembly.Status => {
  const { results, uploads, ...rest } = status
  const has = (part: Assembly.NotificationPayload) => !leaveOut.includes(part)
  return {
    // A Status has no params, so `without_params` changes nothing.
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
 * The hosts that a notification may reach. Unless `allowPrivate` is true, the host must be public; the host of a signed
 * `notify_url` may also be loopback. An unsigned `notify_url` comes from a request with a bearer token, which does not
 * protect the params.
 */
const reachOf = (isSigned: boolean, allowPrivate: boolean): NotificationClient.Reach =>
  allowPrivate ? "any" : isSigned ? "loopback" : "public"

const outOfReach = (hostname: string, reach: NotificationClient.Reach): string =>
  `The host ${hostname} is not public: ` +
  (reach === "public" ? "Create the Assembly with a signature to notify this machine. " : "") +
  "The option allowPrivateNotifications (--allow-private-notifications) allows any host."

/** The outcome of an attempt without a response. */
const unanswered = (error: string, isFinal = false) => ({ code: undefined, data: undefined, error, isFinal })

/**
 * `firstPause`: the pause between the first and the second attempt. `allowPrivate`: whether any host may be notified.
 */
const make = Effect.fnUntraced(function* (firstPause: Duration.Duration, allowPrivate: boolean) {
  const assemblies = yield* AssemblyStore.make
  const authKeys = yield* AuthKeys.make
  const mac = yield* Mac.Mac
  const client = yield* NotificationClient.make()
  const sent = yield* NotificationStore.make
  const statuses = yield* AssemblyStatus.make
  const limits = yield* Limits.Limits
  const running = yield* FiberSet.make()
  // Wakes `dispatch`, because an attempt was scheduled or has ended.
  const wakes = yield* Queue.sliding<void>(1)
  let underWay = 0

  /** Makes the body of a notification. The signature covers the exact text of the Status. */
  const formOf = Effect.fnUntraced(
    function* (assembly: AssemblyStore.Row) {
      const text = JSON.stringify(payloadOf(yield* statuses.of(assembly), assembly.notification_payload))
      // If the Auth Key was deleted, another Workspace may have an Auth Key with the same `key`, which must not sign.
      const authKey = Option.filter(
        yield* authKeys.find(assembly.auth_key ?? ""),
        ({ workspace }) => workspace === assembly.workspace
      )
      const form = new FormData()
      form.set("transloadit", text)
      if (Option.isSome(authKey)) {
        const signer = yield* Effect.orDie(Signer.make({ secret: authKey.value.secret }))
        form.set("signature", Redacted.value(yield* signer.sign(text)))
      }
      const whole = new Response(form)
      const bytes = yield* Effect.promise(() => whole.bytes())
      return HttpBody.uint8Array(bytes, whole.headers.get("content-type") ?? "")
    },
    Effect.provideService(Mac.Mac, mac)
  )

  const post = (
    reach: NotificationClient.Reach,
    url: string,
    body: HttpBody.HttpBody
  ): Effect.Effect<NotificationStore.Outcome> =>
    client.execute(reach, HttpClientRequest.post(url).pipe(HttpClientRequest.setBody(body))).pipe(
      Effect.flatMap(({ status, stream }) =>
        Effect.map(excerptOf(stream), (data) => ({ code: status, data, error: undefined, isFinal: status === 200 }))
      ),
      Effect.scoped,
      Effect.timeout(answerTimeout),
      Effect.catchTags({
        HttpClientError: () => Effect.succeed(unanswered("The connection failed.")),
        NotHttp: () => Effect.succeed(unanswered("The URL must be http or https, without credentials.", true)),
        OutOfReach: ({ hostname }) => {
          const error = outOfReach(hostname, reach)
          return Effect.as(Effect.logWarning(`A notification was refused: ${error}`), unanswered(error, true))
        },
        TimeoutError: () => Effect.succeed(unanswered("The response timed out."))
      })
    )

  const newId = yield* Ids.hex

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
    // The attempt is checked after the Assembly was read, because the Assembly may have been replaced in the meantime.
    if (!(yield* sent.isCurrent(due))) return
    const outcome = yield* post(reachOf(due.is_signed, allowPrivate), due.url, body)
    const isCurrent = yield* StorageFailure.retryUntilStored(sent.end(due, outcome))
    if (!isCurrent || outcome.isFinal || due.attempt === 0 || due.attempt >= maxAttempts) return
    const { id: _id, ...next } = { ...due, attempt: due.attempt + 1 }
    // Each pause is twice as long as the previous pause.
    yield* StorageFailure.retryUntilStored(schedule(next, Duration.times(firstPause, 2 ** (due.attempt - 1))))
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

  /**
   * Starts due attempts, as many as the limit `notifications` allows. Then waits until an attempt is due, is scheduled
   * or has ended.
   */
  const dispatch = Effect.gen(function* () {
    const room = limits.notifications - underWay
    const due = room > 0 ? yield* sent.begin(room) : []
    underWay += due.length
    for (const one of due) yield* inBackground(Effect.ensuring(StorageFailure.retryUntilStored(attempt(one)), leave))
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
  yield* Effect.forkScoped(Effect.forever(StorageFailure.retryUntilStored(dispatch)))

  return {
    // The attempt is stored before live updates report the end of the Assembly. If the disk fails, the attempt is
    // stored later.
    /** Notifies in the background, if the Assembly has a `notify_url`. */
    notify: (id: string) =>
      begin(id, 0).pipe(Effect.catch(() => inBackground(StorageFailure.retryUntilStored(begin(id, 0))))),
    /**
     * Sends one more notification in the background, and returns the id of the attempt. `is_signed`: whether the request
     * for the replay is signed, or the URL comes from the signed params of the Assembly.
     */
    replay: (assemblyId: string, url: string, is_signed: boolean) =>
      schedule({ assembly_id: assemblyId, url, is_signed, attempt: 0 }, Duration.zero)
  }
})

/**
 * Sends notifications. A notification is a POST request with the signed Status to the `notify_url` of an ended
 * Assembly. The request is repeated until the response is 200, or until `maxAttempts` attempts have failed. A request
 * to a URL that is not allowed, and the request of a replay, are not repeated. The details of notifications are beyond
 * the specification.
 */
export class Notifications extends Context.Service<Notifications>()("@assembly-effect/emulator/Notifications", {
  make
}) {}

export const layer = (...options: Parameters<typeof make>) =>
  Layer.effect(Notifications, make(...options)).pipe(Layer.provide(NodeCrypto.layerMac))

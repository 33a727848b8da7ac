/** What the options of `Webhooks` change, what they are by default, and what the log of an application tells. */
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as HandledNotifications from "@assembly-effect/http/HandledNotifications"
import * as Webhooks from "@assembly-effect/http/Webhooks"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { inspect } from "node:util"
import { chunk, credentials, headOf, open, secondsUntil, send, serve, signatureOf, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024
const path = "/assembly-notifications"
const urlEncoded = "application/x-www-form-urlencoded"
const text = JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: "a".repeat(32) })

const webhook = Webhook.layer().pipe(Layer.provide(Credentials.layer(credentials)))

const application = Effect.fnUntraced(function* <R = never>(
  options: Partial<Webhooks.Options<unknown, R>> = {},
  store = HandledNotifications.layerMemory()
) {
  const routes = Webhooks.layer<unknown, R>({ handle: () => Effect.void, ...options })
  const served = yield* serve(routes.pipe(Layer.provide([store, webhook])))
  const post = (body: BodyInit) => send(`${served.origin}${path}`, { body })
  return { ...served, post }
})

/** A notification with this many other fields. */
const withFields = (others: number, signed = text) => {
  const form = new URLSearchParams({ transloadit: signed, signature: signatureOf(signed) })
  for (let field = 0; field < others; field++) form.append(`other${field}`, "x")
  return form
}

const storeOf = (claim: HandledNotifications.HandledNotifications["Service"]["claim"]) =>
  Layer.succeed(HandledNotifications.HandledNotifications, { claim })

/** What an application logs. */
const logged = () => {
  const lines: Array<string> = []
  const note = Logger.make(({ cause, logLevel, message }) => {
    lines.push(`${logLevel} ${inspect(message)} ${Cause.pretty(cause)}`)
  })
  return { lines, provide: Effect.provide(Logger.layer([note])) }
}

describe("Webhooks, its limits", () => {
  it.effect("takes 16 fields by default, and no more", () =>
    Effect.gen(function* () {
      const { post } = yield* application()
      assert.strictEqual((yield* post(withFields(14))).status, 200)
      assert.strictEqual((yield* post(withFields(15))).status, 413)
      const few = yield* application({ maxFields: 3 })
      assert.strictEqual((yield* few.post(withFields(1))).status, 200)
      assert.strictEqual((yield* few.post(withFields(2))).status, 413)
    })
  )

  it.effect("takes a notification of 12 MiB in either form, but none that announces more than 16 MiB", () =>
    Effect.gen(function* () {
      const { port, post } = yield* application()
      const large = JSON.stringify({ ...JSON.parse(text), fields: { note: "x".repeat(12 * MiB) } })
      const form = new FormData()
      for (const [name, value] of withFields(0, large)) form.set(name, value)
      assert.deepStrictEqual((yield* post(form)).body, { outcome: "Handled" })
      assert.deepStrictEqual((yield* post(withFields(0, large))).body, { outcome: "Repeated" })
      const raw = yield* open(port)
      yield* raw.write(headOf(path, { "content-type": urlEncoded, "content-length": String(16 * MiB + 1) }))
      yield* until(raw.isClosed)
      assert.strictEqual(statusIn(raw.received()), 413)
    })
  )

  it.effect("takes a body of exactly maxBytes, and not one byte more, announced or not", () =>
    Effect.gen(function* () {
      const body = String(withFields(1))
      for (const [maxBytes, expected] of [
        [body.length, 200],
        [body.length - 1, 413]
      ] as const) {
        const { port } = yield* application({ maxBytes })
        for (const [headers, sent] of [
          [{ "content-length": String(body.length) }, body],
          [{ "transfer-encoding": "chunked" }, `${chunk(body)}0\r\n\r\n`]
        ] as const) {
          const raw = yield* open(port)
          yield* raw.write(headOf(path, { "content-type": urlEncoded, connection: "close", ...headers }) + sent)
          yield* until(raw.isClosed)
          assert.strictEqual(statusIn(raw.received()), expected)
        }
      }
    })
  )

  it.effect("holds at most 64 MiB of all bodies together by default", () =>
    Effect.gen(function* () {
      const { bytesRead, port } = yield* application()
      const raws = yield* Effect.forEach(Array.from({ length: 5 }), () => open(port))
      const piece = chunk("x".repeat(15 * MiB))
      for (const raw of raws) {
        yield* raw.write(headOf(path, { "content-type": urlEncoded, "transfer-encoding": "chunked" }))
        yield* Effect.forkChild(raw.write(piece))
      }
      const refused = () => raws.filter((raw) => statusIn(raw.received()) === 503).length
      yield* until(() => refused() > 0 || bytesRead() >= 5 * piece.length)
      assert.strictEqual(refused(), 1)
    })
  )

  it.effect("waits 30 seconds for a body by default, and otherwise as long as it is told", () =>
    Effect.gen(function* () {
      for (const [options, least, most] of [
        [{}, 29, 35],
        [{ receiveTimeout: "5 seconds" }, 4, 10]
      ] as const) {
        const served = yield* application(options)
        const raw = yield* open(served.port)
        yield* raw.write(headOf(path, { "content-type": urlEncoded, "content-length": "1000" }) + "a")
        yield* until(() => served.bytesRead() > 0)
        const seconds = yield* secondsUntil(raw.isClosed, served)
        assert.strictEqual(statusIn(raw.received()), 408)
        assert.isAtLeast(seconds, least)
        assert.isAtMost(seconds, most)
      }
    })
  )

  it.effect("lets a handler run for 5 minutes by default, and otherwise as long as it is told", () =>
    Effect.gen(function* () {
      for (const [options, least, most] of [
        [{}, 299, 310],
        [{ handleTimeout: "5 seconds" }, 4, 15]
      ] as const) {
        let isRunning = false
        const handle = () =>
          Effect.suspend(() => {
            isRunning = true
            return Effect.never
          })
        const served = yield* application({ ...options, handle })
        const answer = yield* Effect.forkChild(served.post(withFields(0)))
        yield* until(() => isRunning)
        const seconds = yield* secondsUntil(() => answer.pollUnsafe() !== undefined, served)
        assert.isAtLeast(seconds, least)
        assert.isAtMost(seconds, most)
      }
    })
  )

  it.effect("refuses each limit that breaks a rule", () =>
    Effect.gen(function* () {
      for (const [options, issue] of [
        [{ maxFields: 1 }, "maxFields: Expected a whole number of at least 2"],
        [{ maxBufferedBytes: 0 }, "maxBufferedBytes: Expected a whole number of at least 1"],
        [{ receiveTimeout: 0 }, "receiveTimeout: Expected a finite duration above zero"]
      ] as const) {
        assert.include(String(yield* Effect.exit(application(options))), issue)
      }
    })
  )
})

describe("Webhooks, its handler", () => {
  it.effect("has a scope of its own, which the end of the connection does not close", () =>
    Effect.gen(function* () {
      const steps: Array<string> = []
      const may = yield* Deferred.make<void>()
      const handle = () =>
        Effect.andThen(
          Effect.acquireRelease(
            Effect.sync(() => steps.push("opened")),
            () => Effect.sync(() => steps.push("closed"))
          ),
          Effect.tap(Deferred.await(may), () => Effect.sync(() => steps.push("used")))
        )
      const { post, sockets } = yield* application({ handle })
      const first = yield* Effect.forkChild(post(withFields(0)))
      yield* until(() => steps.length > 0)
      yield* Fiber.interrupt(first)
      yield* until(() => sockets.size === 0)
      const second = yield* Effect.forkChild(post(withFields(0)))
      yield* until(() => sockets.size === 1)
      yield* Deferred.succeed(may, undefined)
      assert.strictEqual((yield* Fiber.join(second)).status, 200)
      assert.deepStrictEqual(steps, ["opened", "used", "closed"])
    })
  )

  it.effect("tells its failure to the log, and not to the sender", () => {
    const { lines, provide } = logged()
    return Effect.gen(function* () {
      const { post } = yield* application({
        handle: () => Effect.fail(new HandledNotifications.StoreFailed({ description: "the table is locked" }))
      })
      const { body, status } = yield* post(withFields(0))
      assert.strictEqual(status, 500)
      assert.notInclude(JSON.stringify(body), "locked")
      assert.strictEqual(lines.filter((line) => /^[^]*the table is locked/.test(line)).length, 1)
    }).pipe(provide)
  })

  it.effect("tells the failures of the store to the log, and is not stopped by its defects", () => {
    const { lines, provide } = logged()
    return Effect.gen(function* () {
      const failed = yield* application(
        {},
        storeOf(() => Effect.fail(new HandledNotifications.StoreFailed({ description: "no disk" })))
      )
      assert.strictEqual((yield* failed.post(withFields(0))).status, 503)
      assert.strictEqual(lines.filter((line) => line.includes("no disk")).length, 1)

      let claims = 0
      const store = storeOf(() =>
        Effect.suspend(() => (++claims === 1 ? Effect.die("a defect") : Effect.succeed({ _tag: "Done" } as const)))
      )
      const { post } = yield* application({}, store)
      const { body, status } = yield* post(withFields(0))
      const problem = "The notification could not be handled."
      assert.deepStrictEqual([status, body], [500, { _tag: "ApplicationFailed", description: problem }])
      assert.strictEqual(lines.filter((line) => line.includes("a defect")).length, 1)
      assert.strictEqual((yield* post(withFields(0))).status, 200)
    }).pipe(provide)
  })

  it.effect("is interrupted when the application stops, and the service is asked to repeat the notification", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      let isRunning = false
      const handle = () =>
        Effect.suspend(() => {
          isRunning = true
          return Effect.never
        })
      const receive = yield* Webhooks.make({ handle }).pipe(
        Effect.provide(Layer.merge(HandledNotifications.layerMemory(), webhook)),
        Scope.provide(scope)
      )
      const { origin } = yield* serve(HttpRouter.use((router) => router.add("POST", path, receive)))
      const answer = yield* Effect.forkChild(send(`${origin}${path}`, { body: withFields(0) }))
      yield* until(() => isRunning)
      yield* Scope.close(scope, Exit.void)
      yield* until(() => answer.pollUnsafe() !== undefined)
      const exit = answer.pollUnsafe()
      assert(exit !== undefined && Exit.isSuccess(exit))
      const { body, status } = exit.value
      assert.deepStrictEqual([status, body], [503, { _tag: "Busy", description: "The server is stopping." }])
    })
  )

  it.effect("has the path that the application chose", () =>
    Effect.gen(function* () {
      const { origin } = yield* application({ path: "/hooks/assembly" })
      assert.strictEqual((yield* send(`${origin}/hooks/assembly`, { body: withFields(0) })).status, 200)
    })
  )
})

/** Runs operations of each kind against the emulator with injected faults. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, layer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Case } from "./utils/operations.ts"
import { examples } from "./utils/operations.ts"

/** A client without retries. */
const clientWith = (options?: Omit<AssemblyClient.Options, "baseUrl">) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
      AssemblyClient.layer({ baseUrl, ...options }).pipe(
        Layer.provide(Authenticator.layerSigned()),
        Layer.provide([Credentials.layer(credentials), RetryPolicy.layerNone])
      )
    )
  )

const live = clientWith().pipe(Layer.provideMerge(Layer.merge(Emulator.layer(), Undici.layerUndici)))

/** The requests of an operation. */
const of = ({ method, path }: Case) => ({ method: method as "GET" | "POST" | "PATCH" | "DELETE", path })

const inject = (fault: Faults.Fault) => Faults.Faults.use((faults) => faults.inject(fault))

/** The outcome of an operation with one response. */
const answered = (operation: Case, answer: Faults.Answer) =>
  Effect.andThen(inject(Faults.Fault.Refuse({ ...of(operation), ...answer })), operation.run)

const failed = (operation: Case, answer: Faults.Answer) => Effect.flip(answered(operation, answer))

describe("against an emulator that goes wrong", () => {
  layer(live, { excludeTestServices: true })((it) => {
    for (const operation of examples) {
      describe(operation.name, () => {
        it.effect("each named error, and the general error object", () =>
          Effect.gen(function* () {
            for (const [code, status, tag] of operation.named) {
              const body = JSON.stringify({ error: code, http_code: status, message: "words" })
              assert.deepInclude(yield* failed(operation, { status, body }), { _tag: tag, code, status })
            }
            const body = JSON.stringify({ reason: ["a"], message: "words" })
            const error = yield* failed(operation, { status: 403, body })
            assert.deepInclude(error, { _tag: "ServiceFailure", status: 403, explanation: "words", reason: ["a"] })
          })
        )

        it.effect("JSON as text/plain, and what cannot be decoded", () =>
          Effect.gen(function* () {
            const body = JSON.stringify(operation.success)
            const json = yield* answered(operation, {
              status: 200,
              body,
              headers: { "content-type": "application/json" }
            })
            const headers = { "content-type": "text/plain; charset=utf-8" }
            assert.deepStrictEqual(yield* answered(operation, { status: 200, body, headers }), json)
            const page = { status: 502, body: "<html>bad gateway</html>", headers: { "content-type": "text/html" } }
            for (const answer of [page, { status: 200, body: body.slice(0, -1) }]) {
              const error = yield* failed(operation, answer)
              assert.deepInclude(error, { _tag: "UnexpectedResponse", status: answer.status })
            }
          })
        )

        it.effect("no answer in time", () =>
          Effect.gen(function* () {
            yield* inject(Faults.Fault.Delay({ ...of(operation), duration: "1 hour" }))
            const error = yield* Effect.flip(
              operation.run.pipe(Effect.provide(clientWith({ requestTimeout: "50 millis" })))
            )
            assert.strictEqual(error._tag, "TimedOut")
            // On a busy machine, the request may end before the emulator has met the fault.
            yield* Faults.Faults.use((faults) => faults.clear)
          })
        )

        it.effect("a connection that is cut during the response: the status of an error decides", () =>
          Effect.gen(function* () {
            const whole = yield* Effect.result(operation.run)
            yield* inject(Faults.Fault.CutAnswer({ ...of(operation), afterBytes: 5 }))
            const error: object = yield* Effect.flip(operation.run)
            // The error of a bill that does not exist has status 200.
            const status = Result.isSuccess(whole) ? 200 : Number(Reflect.get(whole.failure, "status"))
            if (status === 200) {
              assert.deepInclude(error, { _tag: "TransportFailure" })
            } else {
              assert.deepInclude(error, { _tag: "UnexpectedResponse", status, problem: "an incomplete body" })
            }
          })
        )

        it.effect("rate limits, with the wait in the body and in both forms of Retry-After", () =>
          Effect.gen(function* () {
            const error = { error: "RATE_LIMIT_REACHED", http_code: 429 }
            const date = "Sat, 21 Nov 2026 05:00:00 GMT"
            const later = "Sat, 21 Nov 2026 05:00:07 GMT"
            const waits: ReadonlyArray<readonly [Omit<Faults.Answer, "status">, number]> = [
              [{ body: JSON.stringify({ ...error, info: { retryIn: 3 } }) }, 3],
              [{ body: JSON.stringify(error), headers: { "retry-after": "5" } }, 5],
              [{ body: JSON.stringify(error), headers: { "retry-after": later, date } }, 7]
            ]
            for (const [answer, seconds] of waits) {
              const limited = yield* failed(operation, { status: 429, ...answer })
              assert.strictEqual(limited._tag, "RateLimited")
              assert.deepPropertyVal(limited, "retryAfter", Duration.seconds(seconds))
            }
          })
        )
      })
    }

    it.effect("cancel returns the Status of the canceled Assembly", () =>
      Effect.gen(function* () {
        const steps = { ":original": { robot: "/upload/handle" } }
        const { assembly_id } = yield* Assemblies.create({ steps, numExpectedUploadFiles: 1 })
        assert.deepInclude(yield* Assemblies.cancel(assembly_id), { assembly_id, ok: "ASSEMBLY_CANCELED" })
        assert.strictEqual((yield* Assemblies.get(assembly_id)).ok, "ASSEMBLY_CANCELED")
      })
    )
  })
})

import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import type * as Operation from "@assembly-effect/api/Operation"
import * as Testing from "@assembly-effect/api/testing"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Service from "./utils/FakeService.ts"
import { sample } from "./utils/generated.ts"
import { operations } from "./utils/operations.ts"

const strict = { errors: "all", onExcessProperty: "error" } as const

/** A server that checks a request. `Bug` is what it does not check. */
const checks = <T, E>(schema: Schema.ConstraintCodec<T, E>, before: (request: unknown) => unknown = (same) => same) => {
  const decode = Schema.decodeUnknownExit(schema, strict)
  return (request: unknown) => Exit.isSuccess(decode(before(request)))
}

const change = (key: string, to: (value: unknown) => unknown) => (request: unknown) =>
  key in Object(request) ? { ...Object(request), [key]: to(Object(request)[key]) } : request

const list = Testing.of(AssemblyList.Query)
const move = Testing.of(DamAsset.MoveRequest)

/** Servers that are wrong, and the name of the rule that says so. `accepts` is false if they refuse what is valid. */
const wrong: ReadonlyArray<
  readonly [bug: string, inputs: Testing.Inputs<unknown, unknown>, accepts: (request: unknown) => boolean, rule: string]
> = [
  [
    "a page of 5001",
    list,
    checks(
      AssemblyList.Query,
      change("pagesize", (size) => (size === 5001 ? 5000 : size))
    ),
    "pagesize is at most 5000"
  ],
  [
    "a type in capitals",
    list,
    checks(
      AssemblyList.Query,
      change("type", (type) => (typeof type === "string" ? type.toLowerCase() : type))
    ),
    "type is one of"
  ],
  [
    "a number as text",
    list,
    checks(
      AssemblyList.Query,
      change("page", (page) => (typeof page === "string" ? Number(page) : page))
    ),
    "page is a number"
  ],
  [
    "30 February",
    list,
    checks(
      AssemblyList.Query,
      change("fromdate", (date) => String(date).replace(/-02-3[01]/, "-02-28"))
    ),
    "fromdate is a time of the calendar"
  ],
  [
    "an unknown key",
    move,
    checks(DamAsset.MoveRequest, (request) =>
      Object.fromEntries(Object.entries(Object(request)).filter(([key]) => !key.startsWith("x_")))
    ),
    "has no unknown key"
  ]
]

describe("a server that accepts", () => {
  it.effect.each(wrong)("%s breaks the rule that says so", ([, { rules }, accepts, rule]) =>
    Effect.gen(function* () {
      const found = yield* Effect.filter(rules.wire, ({ invalid }) =>
        Effect.map(sample(invalid), (all) => all.some(({ input }) => accepts(input)))
      )
      assert.strictEqual(found.length, 1)
      assert.include(found[0]?.name, rule)
    })
  )
})

describe("a server that counts bytes instead of characters, or loses a null", () => {
  it.effect("refuses or changes what is valid", () =>
    Effect.gen(function* () {
      const valid = yield* sample(move.valid.wire, 200)
      const names = valid.flatMap(({ filename }) => filename ?? [])
      assert.isTrue(names.some((name) => new TextEncoder().encode(name.normalize("NFC")).length > 255))
      assert.isTrue(names.some((name) => [...name.normalize("NFC")].length === 255))
      const folders = new Set(valid.map((request) => request.destination_folder_id))
      assert.isTrue(folders.has(null) && folders.has(undefined))
    })
  )
})

describe("scopes", () => {
  it.effect("are enough or lacking, as the operation says", () =>
    Effect.gen(function* () {
      const { enough, lacking } = Testing.of(Dam.Move).scopes
      const grants = (scopes: ReadonlyArray<string>) => scopes.includes("dam:write") || scopes.includes("write")
      assert.isTrue((yield* sample(enough)).every(grants))
      assert.isFalse((yield* sample(lacking)).some(grants))
    })
  )
})

describe("statistics", () => {
  it.effect("may be of exactly 91 days before the time of the test, and not of a millisecond more", () =>
    Effect.gen(function* () {
      const now = yield* DateTime.now
      const { rules } = Testing.of(Assemblies.Statistics, { now })
      const rule = rules.decoded.find(({ name }) => name.endsWith("91 days ago")) ?? assert.fail("no rule")
      const client = Testing.layerGenerated({ seed: 1, weights: { Success: 1e9 } })
      const run = (input: Operation.Input<typeof Assemblies.Statistics>) =>
        Effect.exit(Effect.provide(Assemblies.statistics(input.params), client))
      for (const input of yield* sample(rule.edge ?? assert.fail("no edge"))) {
        assert.isTrue(Exit.isSuccess(yield* run(input)))
      }
      const limit = DateTime.toEpochMillis(now) - 91 * 86_400_000
      const invalid = yield* sample(rule.invalid)
      const since = invalid.map(({ input }) => input.params.since)
      assert.isTrue(since.some((one) => DateTime.isDateTime(one) && DateTime.toEpochMillis(one) === limit - 1))
      for (const { input } of invalid) assert.isTrue(Exit.isFailure(yield* run(input)))
    })
  )
})

describe("a falsified property", () => {
  it.effect("is shrunk to one broken rule, and tells its name, its code and how to replay it", () =>
    Effect.gen(function* () {
      const { invalid } = Testing.of(Dam.Move)
      const isNull = ({ input }: Testing.Invalid<Testing.Wire<typeof Dam.Move>>) =>
        !("filename" in input.params) || input.params.filename !== ""
      const result = yield* Arbitrary.checkEffect(invalid.wire, isNull, { seed: 1, runs: 1000 })
      const told = Arbitrary.formatCheckFailure(result) ?? assert.fail("not falsified")
      assert.match(told, /"rule": "params.filename is 1 to 255 characters"/)
      assert.match(told, /"code": "DAM_INVALID_REQUEST"/)
      assert.match(told, /Replay: /)
      assert(result._tag === "Falsified")
      assert.propertyVal(result.shrunkInput.input.params, "filename", "")
    })
  )
})

describe("a client with generated answers", () => {
  const get = Dam.get(DamAsset.Moved.fields.asset_id.make("abcdefghijklmnopqrstuA"))

  it.effect("gives the same answers for the same seed", () =>
    Effect.gen(function* () {
      const run = (seed: number) =>
        Effect.provide(Effect.replicateEffect(Effect.exit(get), 20), Testing.layerGenerated({ seed }))
      const first = yield* run(1)
      assert.deepStrictEqual(yield* run(1), first)
      assert.notDeepEqual(yield* run(2), first)
    })
  )

  it.effect("reports what it answered, and fails if a tag was never drawn", () =>
    Effect.gen(function* () {
      const report = Testing.report()
      const weights = { Success: 1e9 }
      yield* Effect.provide(get, Testing.layerGenerated({ seed: 1, weights, report }))
      const seen = yield* report.seen
      assert.strictEqual(seen["Dam.get"]?.["Success"], 1)
      const error = yield* Effect.flip(report.complete)
      assert.strictEqual(
        error.message,
        "never answered: Dam.get: DamInvalidRequest, DamResourceNotFound, AuthenticationFailed, RateLimited, " +
          "ServiceFailure, UnexpectedResponse, TransportFailure, TimedOut"
      )
    })
  )

  it.effect("is complete after enough runs, without what has no weight", () =>
    Effect.gen(function* () {
      const report = Testing.report()
      const client = Testing.layerGenerated({ seed: 1, weights: { TimedOut: 0 }, report })
      yield* Effect.provide(Effect.replicateEffect(Effect.exit(get), 200), client)
      yield* report.complete
      assert.notProperty((yield* report.seen)["Dam.get"], "TimedOut")
    })
  )

  it.effect("delays its answers, if the test wants it", () =>
    Effect.gen(function* () {
      const client = Testing.layerGenerated({ seed: 3, delay: "1 minute", weights: { Success: 1e9 } })
      const fiber = yield* Effect.forkChild(Effect.provide(get, client))
      yield* Effect.yieldNow
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
    })
  )

  it.effect("refuses an invalid input, and draws nothing for it", () =>
    Effect.gen(function* () {
      const report = Testing.report()
      const call = Dam.list({ limit: 0 })
      const error = yield* Effect.flip(Effect.provide(call, Testing.layerGenerated({ seed: 1, report })))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.deepStrictEqual(yield* report.seen, {})
    })
  )
})

describe("headers of tus", () => {
  it.effect.prop("are encoded from valid creations", [Testing.of(TusUpload.Creation).valid.decoded], ([creation]) =>
    Effect.map(Schema.encodeEffect(TusUpload.Creation)(creation), (headers) =>
      assert.strictEqual(headers["tus-resumable"], "1.0.0")
    )
  )
})

// After all others: a secret in a generated success may be any word, and would be found in what the others show.
describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_, operation) => {
  it.effect("decodes every generated success", () =>
    Effect.gen(function* () {
      const { answers, valid } = Testing.of(operation)
      const [success = assert.fail("no success")] = answers
      const [input = assert.fail("no input")] = yield* sample(valid.decoded, 1)
      const path = { ...input.path, ...("assemblyId" in input.path ? { assemblyId: "0".repeat(32) } : undefined) }
      for (const { body, status } of yield* sample(success.answer)) {
        const service = Service.make(Service.text(status, String(body)))
        const client = Service.client(service)
        yield* Effect.provide(
          AssemblyClient.use((api) => api.run(operation, { ...input, path })),
          client
        )
      }
    })
  )
})

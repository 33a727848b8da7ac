import { Assemblies, AssemblyClient, Dam } from "@assembly-effect/api"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Testing from "@assembly-effect/api/testing"
import { AssemblyList, DamAsset } from "@assembly-effect/schema"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Arbitrary, DateTime, Effect, Exit, Fiber, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
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

/** A server of a list that changes a param before it checks it. */
const lax = (key: string, to: (value: unknown) => unknown) => checks(AssemblyList.Query, change(key, to))
const without = (request: unknown) => Object.fromEntries(Object.entries(Object(request)).filter(([key]) => key !== "a"))
const noFebruary = lax("fromdate", (date) => String(date).replace(/-02-3[01]/, "-02-28"))
const orList = (request: unknown) => Array.isArray(request) || checks(DamAsset.MoveRequest)(request)
const ascii = checks(TusUpload.Metadata, (header) => String(header).replace("\u00e9", "e"))

/** Servers that are wrong, and the name of the rule that says so. `accepts` is false if they refuse what is valid. */
const wrong: ReadonlyArray<
  readonly [bug: string, inputs: Testing.Inputs<unknown, unknown>, accepts: (request: unknown) => boolean, rule: string]
> = [
  ["a page of 5001", list, lax("pagesize", (size) => (size === 5001 ? 5000 : size)), "pagesize: Expected an integer"],
  ["a type in capitals", list, lax("type", (type) => String(type).toLowerCase()), 'type: Expected "all" | "uploading"'],
  ["a number as text", list, lax("page", (page) => (page === "1" ? 1 : page)), "page: Expected number"],
  ["30 February", list, noFebruary, "fromdate: Expected a valid calendar date"],
  ["an unknown key", move, checks(DamAsset.MoveRequest, without), "Unknown key, expected one of"],
  ["a list as params", move, orList, "Expected object"],
  ["a key that is not ASCII", Testing.of(TusUpload.Metadata), ascii, "Expected a key of printable ASCII"]
]

describe("a server that accepts", () => {
  it.effect.each(wrong)("%s breaks the rule that says so", function* ([, { rules }, accepts, rule]) {
    const found = yield* Effect.filter(rules.wire, ({ invalid }) =>
      Effect.map(sample(invalid, 100), (all) => all.some(({ input }) => accepts(input)))
    )
    assert.strictEqual(found.length, 1)
    assert.include(found[0]?.name, rule)
  })
})

describe("a server that counts bytes instead of characters, or loses a null", () => {
  it.effect("refuses or changes what is valid", function* () {
    const valid = yield* sample(move.valid.wire, 200)
    const names = valid.flatMap(({ filename }) => filename ?? [])
    assert.isTrue(names.some((name) => new TextEncoder().encode(name.normalize("NFC")).length > 255))
    assert.isTrue(names.some((name) => [...name.normalize("NFC")].length === 255))
    const folders = new Set(valid.map((request) => request.destination_folder_id))
    assert.isTrue(folders.has(null) && folders.has(undefined))
  })
})

describe("scopes", () => {
  it.effect("are enough or lacking, as the operation says", function* () {
    const { enough, lacking } = Testing.of(Dam.Move).scopes
    const grants = (scopes: ReadonlyArray<string>) => scopes.includes("dam:write") || scopes.includes("write")
    assert.isTrue((yield* sample(enough)).every(grants))
    assert.isFalse((yield* sample(lacking)).some(grants))
  })

  it.effect("lack none of an operation that needs none", function* () {
    const error = yield* Effect.flip(sample(Testing.of(Assemblies.Get).scopes.lacking))
    assert.strictEqual(error.generated, 0)
  })
})

test("an operation has the rules that only the client checks", () => {
  const names = Testing.of(Assemblies.Create).rules.decoded.map(({ name }) => name)
  assert.includeMembers(names, [
    "params has keys",
    "params is at most 128 levels",
    "params.auth has no unknown key",
    "params.fields.a: Expected JSON value",
    "params.steps.a: Expected Steps that do not use this Step, directly or through others",
    "params.steps.a: Expected one of b2, md5, sha1, sha224, sha256, sha384, sha512",
    "params.steps.a: Expected at least 1 character",
    "params.steps.a: Expected a number of at least 0",
    "params.steps.a: Expected the name of a Step, an object with a name, a list of these, or an object with steps"
  ])
})

describe("what is no operation", () => {
  test.each([5, undefined, Dam, Dam.move])("is refused, such as value %#", (subject) => {
    assert.throws(() => Testing.of(subject as never), "Testing.of: Expected an operation, such as Dam.Move")
  })

  test("is refused, and a Date as now", () => {
    const now = new Date(0) as never
    assert.throws(() => Testing.of(Assemblies.Statistics, { now }), "Testing.of: now: Expected a DateTime of Effect")
  })
})

describe("statistics", () => {
  it.effect("may be of exactly 91 days before the time of the test, and not of a millisecond more", function* () {
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
})

describe("a falsified property", () => {
  it.effect("is shrunk to one broken rule, and tells its name, its code and how to replay it", function* () {
    const { invalid } = Testing.of(Dam.Move)
    const isNull = ({ input }: Testing.Invalid<Testing.Wire<typeof Dam.Move>>) => Object(input.params).filename !== ""
    const result = yield* Arbitrary.checkEffect(invalid.wire, isNull, { seed: 1, runs: 1000 })
    const told = Arbitrary.formatCheckFailure(result) ?? assert.fail("not falsified")
    assert.match(told, /"rule": "params.filename: Expected a name of 1 to 255 characters"/)
    assert.match(told, /"code": "DAM_INVALID_REQUEST"/)
    assert.match(told, /Replay: /)
    assert(result._tag === "Falsified")
    assert.propertyVal(result.shrunkInput.input.params, "filename", "")
  })
})

describe("a client with generated answers", () => {
  const get = Dam.get(DamAsset.Moved.fields.asset_id.make("abcdefghijklmnopqrstuA"))

  it.effect("gives the same answers for the same seed", function* () {
    const run = (seed: number) =>
      Effect.provide(Effect.replicateEffect(Effect.exit(get), 20), Testing.layerGenerated({ seed }))
    const first = yield* run(1)
    assert.deepStrictEqual(yield* run(1), first)
    assert.notDeepEqual(yield* run(2), first)
  })

  it.effect("reports what it answered, and fails if a tag was never drawn", function* () {
    const report = Testing.report()
    const weights = { Success: 1e9 }
    yield* Effect.provide(get, Testing.layerGenerated({ seed: 1, weights, report }))
    const seen = yield* report.seen
    assert.strictEqual(seen["Dam.get"]?.["Success"], 1)
    const error = yield* Effect.flip(report.complete)
    const named = "DamInvalidRequest, DamResourceNotFound, AuthenticationFailed, RateLimited"
    const others = "ServiceFailure, UnexpectedResponse, TransportFailure, TimedOut"
    assert.strictEqual(error.message, `never answered: Dam.get: ${named}, ${others}`)
  })

  it.effect("is complete after enough runs, without what has no weight", function* () {
    const report = Testing.report()
    const client = Testing.layerGenerated({ seed: 1, weights: { TimedOut: 0 }, report })
    yield* Effect.provide(Effect.replicateEffect(Effect.exit(get), 200), client)
    yield* report.complete
    assert.notProperty((yield* report.seen)["Dam.get"], "TimedOut")
  })

  it.effect("is complete only with an answer, and the tags of every Layer of the report", function* () {
    const report = Testing.report()
    assert.strictEqual((yield* Effect.flip(report.complete)).message, "never answered: any operation")
    const { answers } = Testing.of(Dam.Get)
    const weights = { ...Object.fromEntries(answers.map(({ tag }) => [tag, 0])), Success: 1 }
    yield* Effect.provide(get, Testing.layerGenerated({ seed: 1, weights, report }))
    yield* report.complete
    yield* Effect.exit(Effect.provide(get, Testing.layerGenerated({ seed: 1, report })))
    assert.include((yield* Effect.flip(report.complete)).message, "never answered: Dam.get: ")
  })

  const slow = { seed: 3, delay: "365 days", weights: { Success: 1e9 } } as const

  it.effect.each([
    ["the default timeout", get, "1 minute"],
    ["withTimeout", get.pipe(AssemblyClient.withTimeout("20 millis")), "20 millis"],
    ["withDeadline", get.pipe(AssemblyClient.withDeadline("30 millis")), "30 millis"]
  ] as const)("is late after %s, and counts that", function* ([, call, time]) {
    const report = Testing.report()
    const late = Effect.flip(Effect.provide(call, Testing.layerGenerated({ ...slow, report })))
    const fiber = yield* Effect.forkChild(late)
    yield* TestClock.adjust(time)
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "TimedOut")
    assert.include((yield* report.seen)["Dam.get"], { Success: 0, TimedOut: 1 })
  })

  it.effect("does not count an answer that nobody waits for", function* () {
    const report = Testing.report()
    const fiber = yield* Effect.forkChild(Effect.provide(get, Testing.layerGenerated({ ...slow, report })))
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(yield* report.seen, {})
  })

  it.effect.each([
    [{ weights: { Success: NaN } }, "weights.Success"],
    [{ weights: { Success: -5 } }, "weights.Success"],
    [{ weights: { Success: Infinity } }, "weights.Success"],
    [{ weights: { Success: 1e308, TimedOut: 1e308 } }, "weights.Success"],
    [{ weights: { Sucess: 5 } }, "weights.Sucess"],
    [{ weights: null }, "weights"],
    [{ delay: NaN }, "delay"],
    [{ delay: -1 }, "delay"],
    [{ delay: "abc" }, "delay"],
    [{ delay: Infinity }, "delay"],
    [{ seed: undefined }, "seed"],
    [{ seed: NaN }, "seed"],
    [{ weights: Object.fromEntries(Testing.of(Dam.Get).answers.map(({ tag }) => [tag, 0])) }, "weights"]
  ] as const)("refuses the options %j", function* ([options, path]) {
    const layer = Testing.layerGenerated({ seed: 1, ...options } as never)
    const error = yield* Effect.flip(Effect.provide(get, layer))
    assert(error._tag === "InvalidRequest")
    assert.strictEqual(error.issues[0]?.path.join("."), path)
  })

  it.effect("answers with a known error whose code contains a secret of the request", function* () {
    const report = Testing.report()
    const content = Redacted.make({ bucket: "CREDENTIALS", key: "TEMPLATE" })
    const run = Effect.forEach(Array.from({ length: 60 }), () =>
      TemplateCredentials.create({ name: "n", type: "s3", content }).pipe(
        Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "Success" })
      )
    )
    const tags = yield* Effect.provide(run, Testing.layerGenerated({ seed: 1, report }))
    const counted = Object.entries((yield* report.seen)["TemplateCredentials.create"] ?? {})
    for (const [tag, count] of counted) assert.strictEqual(tags.filter((one) => one === tag).length, count, tag)
    assert.include(tags, "TemplateCredentialsNotCreated")
  })

  it.effect("refuses an invalid input, and draws nothing for it", function* () {
    const report = Testing.report()
    const call = Dam.list({ limit: 0 })
    const error = yield* Effect.flip(Effect.provide(call, Testing.layerGenerated({ seed: 1, report })))
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.deepStrictEqual(yield* report.seen, {})
  })
})

// After all others: a secret in a generated success may be any word, and would be found in what the others show.
describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_, operation) => {
  it.effect("decodes every generated success", function* () {
    const { answers, valid } = Testing.of(operation)
    const [success = assert.fail("no success")] = answers
    const [input = assert.fail("no input")] = yield* sample(valid.decoded, 1)
    const path = { ...input.path, ...("assemblyId" in input.path ? { assemblyId: "0".repeat(32) } : undefined) }
    for (const { body, status } of yield* sample(success.answer)) {
      const service = Service.make(Service.text(status, String(body)))
      const client = Service.client(service)
      const run = AssemblyClient.AssemblyClient.use((api) => api.run(operation, { ...input, path }))
      yield* Effect.provide(run, client)
    }
  })
})

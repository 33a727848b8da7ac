/** Runs commands against a server that accepts connections and never answers. */
import * as Program from "../src/internal/main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Clock, Effect, Fiber, Layer, Stdio } from "effect"
import { TestClock } from "effect/testing"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { credentials } from "./support/resources.ts"
import * as InProcess from "./support/inProcess.ts"
import * as Screen from "./support/screen.ts"
import { folderWith } from "./support/uploading.ts"
import * as Failure from "../src/internal/failure.ts"

/** The status and the body of a response. */
type Response = readonly [status: number, body: unknown]

/**
 * A server that answers the requests for which `answerOf` has a response, and never answers the others. `asked` waits for
 * a request without a response whose method and path begin with a text.
 */
const serving = Effect.fnUntraced(function* (answerOf: (request: string) => Response | undefined) {
  const arrived = new Map<string, () => void>()
  const origin = yield* Loopback.serve((request, response) => {
    const name = `${request.method} ${request.url}`
    // The clock of the test starts in 1970, so a date would be wrong.
    response.sendDate = false
    const answer = answerOf(name)
    if (answer !== undefined) {
      response.writeHead(answer[0], { "content-type": "application/json" })
      return void response.end(JSON.stringify(answer[1]))
    }
    for (const [start, resolve] of arrived) if (name.startsWith(start)) resolve()
  })
  return {
    host: new URL(origin).host,
    asked: (start: string) => new Promise<void>((resolve) => void arrived.set(start, resolve))
  }
})

const silent = serving(() => undefined)

const start = Effect.fnUntraced(function* (host: string, args: ReadonlyArray<string>) {
  const { layer: console, written } = InProcess.captured()
  const fiber = yield* Program.run("0.1.0").pipe(
    Effect.provide(
      Layer.mergeAll(
        Screen.make({ columns: 200, animated: false }).layer,
        Stdio.layerTest({ args: Effect.succeed(args) }),
        console,
        InProcess.settings(`http://${host}`)
      ).pipe(Layer.provideMerge(NodeServices.layer))
    ),
    Effect.exit,
    Effect.forkScoped
  )
  return { written, code: Effect.map(Fiber.join(fiber), Failure.codeOfExit) }
})

/** Starts a command, and waits until its requests have arrived whose method and path begin with these texts. */
const startUntil = Effect.fnUntraced(function* (
  { asked, host }: Effect.Success<typeof silent>,
  args: ReadonlyArray<string>,
  ...requests: ReadonlyArray<string>
) {
  const arrived = requests.map(asked)
  const started = yield* start(host, args)
  yield* Effect.promise(() => Promise.all(arrived))
  return started
})

const { network } = Failure.codes
const [one, other] = ["1".repeat(32), "2".repeat(32)]

it.effect("a command says what it waits for, and gives up after a minute", function* () {
  const server = yield* silent
  const { code, written } = yield* startUntil(server, ["list"], "GET /assemblies")
  yield* TestClock.adjust("5 seconds")
  expect(written).toEqual({ stdout: "", stderr: `Waiting for ${server.host} …\n` })
  yield* TestClock.adjust("55 seconds")
  expect(yield* code).toBe(network)
  expect(written.stderr).toBe(
    `Waiting for ${server.host} …\n` +
      `assembly: Assemblies.list: no response from ${server.host} after 60 s\n` +
      "Check ASSEMBLY_BASE_URL, or run the command again later.\n"
  )
})

it.effect("a new upload gives up after two minutes, because nothing is kept", NodeServices.layer, function* () {
  const folder = yield* folderWith({ "a.txt": "meow" })
  // Without a home folder, the journal is in memory, so that its leases follow the clock of the test.
  const { code, written } = yield* startUntil(yield* silent, ["upload", `${folder}/a.txt`], "POST /assemblies")
  // Between the steps of the clock, the connections of the client have time to fail.
  const step = Effect.andThen(
    TestClock.adjust("1 second"),
    Effect.promise(() => new Promise(setImmediate))
  )
  expect(yield* Effect.raceFirst(code, Effect.forever(step))).toBe(network)
  expect(yield* Clock.currentTimeMillis).toBeLessThan(200_000)
  expect(written.stdout).toBe("")
  expect(written.stderr).toMatch(/^assembly: Assemblies\.\w+(?: at 127\.0\.0\.1:\d+)?: .*\n/m)
  expect(written.stderr).not.toContain("kept")
})

it.effect("doctor prints what it knows at once, and waits 10 seconds for an answer", function* () {
  const server = yield* silent
  const { code, written } = yield* startUntil(server, ["doctor"], "GET /assemblies")
  expect(written.stdout).toMatch(/^✓ settings .*\n$/)
  yield* TestClock.adjust("10 seconds")
  expect(yield* code).toBe(network)
  expect(written.stdout).toContain(`✗ address       ${server.host} did not answer within 10 s\n`)
})

it.effect(
  "doctor does not call a scope refused whose check got no answer, and waits 10 seconds for uploads too",
  function* () {
    const server = yield* serving((request) => {
      if (request.startsWith("GET /templates") || request.startsWith("OPTIONS")) return undefined
      if (request.startsWith("GET /assemblies?")) return [200, { items: [], count: 0 }]
      return request.startsWith("GET /assemblies/")
        ? [404, { error: "ASSEMBLY_NOT_FOUND", message: "no" }]
        : [400, { error: "INSUFFICIENT_AUTH_SCOPE", message: "no" }]
    })
    const uploads = server.asked("OPTIONS")
    const { code, written } = yield* startUntil(server, ["doctor"], "GET /templates")
    yield* TestClock.adjust("10 seconds")
    yield* Effect.promise(() => uploads)
    yield* TestClock.adjust("10 seconds")
    expect(yield* code).toBe(network)
    for (const line of [
      "✓ scopes        assemblies:read (scopes to write are not checked)\n",
      "– scopes        not known: templates:read\n" +
        `                → ${server.host} did not answer within 10 s. Run assembly doctor again later.\n`,
      `✗ uploads       ${server.host} did not answer within 10 s\n`
    ]) {
      expect(written.stdout).toContain(line)
    }
    expect(written.stdout).not.toContain("refused")
  }
)

it.effect("a command with several requests says once what it waits for", function* () {
  const server = yield* silent
  const { written } = yield* startUntil(
    server,
    ["wait", one, other],
    `GET /assemblies/${one}`,
    `GET /assemblies/${other}`
  )
  yield* TestClock.adjust("10 seconds")
  expect(written).toEqual({ stdout: "", stderr: `Waiting for ${server.host} …\n` })
})

it.effect("a command does not say what it waits for after the service has answered", function* () {
  const server = yield* serving((request) =>
    request.startsWith("GET /template_credentials/") ? [200, credentials["TemplateCredentials.get"]] : undefined
  )
  const args = ["credentials", "update", "--name", "photos", "c1"]
  const { written } = yield* startUntil(server, args, "PUT /template_credentials/")
  yield* TestClock.adjust("10 seconds")
  expect(written).toEqual({ stdout: "", stderr: "" })
})

it.effect("wait does not say that an Assembly has not ended if the service does not answer", function* () {
  const server = yield* silent
  const { code, written } = yield* startUntil(server, ["wait", one], `GET /assemblies/${one}`)
  yield* TestClock.adjust("60 seconds")
  expect(yield* code).toBe(network)
  expect(written.stderr).toContain(`: no response from ${server.host} after 60 s\n`)
})

/**
 * What a creation that fails leaves behind: nothing for sure, or perhaps an upload that the receipts have to tell of.
 *
 * Receipts that contradict themselves, or what was sent: they prove nothing, and the upload is told as what is known of
 * it without them.
 */
import { type UploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import { assert, layer, Clients, type Fault, Loopback, Scene } from "./utils/index.ts"
import { ScriptedTus, Tests, type TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(600_000)
const source = UploadSource.fromBytes(bytes)

type Retell = TusServer.TusServer["retell"]
type Change = (receipt: TusServer.Receipt) => Partial<TusServer.Receipt>

const each =
  (change: Change): Retell =>
  (receipts) =>
    receipts.map((receipt) => ({ ...receipt, ...change(receipt) }))

const without =
  (key: "size" | "offset"): Retell =>
  (receipts) =>
    receipts.map((receipt) => Object.fromEntries(Object.entries(receipt).filter(([name]) => name !== key)))

/** What no longer says that the upload is whole. */
const unproven: Readonly<Record<string, Retell>> = {
  "whose offset is below its size": each(({ size }) => ({ offset: (size ?? 0) - 1 })),
  "whose offset is beyond its size": each(({ size }) => ({ offset: (size ?? 0) + 1 })),
  "without a size": without("size"),
  "of no size": each(() => ({ size: null })),
  "without an offset": without("offset"),
  "of no offset": each(() => ({ offset: null })),
  "of another size": each(() => ({ size: 5, offset: 5 })),
  ...Object.fromEntries(
    [0.5, -1, 1e300, 2 ** 53].flatMap((hostile) => [
      [`of the size ${hostile}`, each(() => ({ size: hostile }))],
      [`of the offset ${hostile}`, each(() => ({ offset: hostile }))],
      [`of the size and offset ${hostile}`, each(() => ({ size: hostile, offset: hostile }))]
    ])
  ),
  "that is not finished": each(() => ({ finished: false }))
}

/** What is not the receipt of this upload. */
const foreign: Readonly<Record<string, Retell>> = {
  "in a Status over 8 MiB": (receipts) => [...receipts, { upload_url: "x".repeat(8 * 1024 * 1024) }],
  "that is there twice": (receipts) => [...receipts, ...receipts]
}

const start = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault>, set: (server: TusServer.TusServer) => void) {
  const { server, target } = yield* Scene.make(faults)
  set(server)
  return { server, outcome: yield* Effect.result(Upload.run(target, source, Scene.options)) }
})

const gone: ReadonlyArray<Fault> = [
  { _tag: "LostAnswer", method: "PATCH" },
  { _tag: "Status", method: "HEAD", status: 404 }
]
const lost: ReadonlyArray<Fault> = [{ _tag: "LostAnswer", method: "POST" }]

layer(Clients.undici)("A receipt", (it) => {
  it.effect.each(Object.entries({ ...unproven, ...foreign }))(
    "%s does not finish an upload whose URL is gone",
    function* ([, retell]) {
      const { outcome } = yield* start(gone, (server) => (server.retell = retell))
      assert.strictEqual(outcome._tag === "Failure" ? outcome.failure._tag : "Completed", "UploadGone")
    }
  )

  it.effect.each(Object.entries(unproven))(
    "%s still tells where an upload is whose creation was not answered",
    function* ([, retell]) {
      const { outcome, server } = yield* start(lost, (tus) => (tus.retell = retell))
      assert.strictEqual(outcome._tag, "Success")
      assert.strictEqual(server.created.length, 1)
    }
  )

  it.effect.each(Object.entries(foreign))("%s is not that of a creation that was not answered", function* ([, retell]) {
    const { outcome, server } = yield* start(lost, (tus) => (tus.retell = retell))
    assert.strictEqual(outcome._tag === "Failure" ? outcome.failure._tag : "Completed", "CreationUnknown")
    assert.strictEqual(server.created.length, 1)
    assert.notInclude(server.log.join(), "PATCH")
  })

  it.effect("finishes an upload whose URL it writes in another form", function* () {
    const { outcome } = yield* start(gone, (server) => {
      server.retell = each(({ upload_url }) => ({
        upload_url: new URL(upload_url, server.origin).href.replace("http:", "HTTP:")
      }))
    })
    assert.strictEqual(outcome._tag, "Success")
  })

  it.effect("that names another place sends nothing there", function* () {
    for (const toUrl of [
      (other: string) => `${other}/resumable/files/u0`,
      (other: string) => `//${new URL(other).host}/resumable/files/u0`,
      () => "/resumable/files/%2e%2e/index",
      () => "/resumable/files/../../index/doc",
      () => "/index/doc"
    ]) {
      const other = yield* ScriptedTus.make
      const { outcome, server } = yield* start(lost, (tus) => {
        tus.retell = each(() => ({ upload_url: toUrl(other.origin) }))
      })
      assert.strictEqual(outcome._tag === "Failure" ? outcome.failure._tag : "Completed", "CreationUnknown")
      assert.deepStrictEqual(other.requests, [])
      assert.notInclude(server.log.join(), "PATCH")
    }
  })

  it.effect("in the Status of another Assembly tells nothing, neither of a creation nor of an end", function* () {
    for (const [faults, tag] of [
      [lost, "CreationUnknown"],
      [gone, "UploadGone"]
    ] as const) {
      const { outcome } = yield* start(faults, (server) => (server.assemblyId = "1".repeat(32)))
      assert.strictEqual(outcome._tag === "Failure" ? outcome.failure._tag : "Completed", tag)
    }
  })

  it.effect("that does not arrive within stallTimeout tells nothing", function* () {
    const silent = Array.from({ length: 5 }, (): Fault => ({ _tag: "NoAnswer", method: "GET" }))
    const { target } = yield* Scene.make([...lost, ...silent])
    const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, stallTimeout: "20 millis" }))
    assert.strictEqual(error._tag, "CreationUnknown")
  })
})

/** A server that answers creations with this status, having made the upload or not. */
const answering = (status: number, made: boolean) =>
  ScriptedTus.changing("POST", (go) => {
    if (made) go()
    return { status, body: "ERR_FAULT: on purpose\n" }
  })

const run = (server: ScriptedTus.ScriptedTus, more?: Partial<Upload.Options>) =>
  Upload.run(server.target, source, { ...Scene.options, ...more })

const { count } = ScriptedTus

layer(Clients.undici)("A creation", (it) => {
  it.effect.each([400, 401, 403, 404, 405, 410, 412, 413, 415, 422, 431, 460, 501])(
    "answered %s made nothing: the refusal is told, and no receipt is asked for",
    function* (status) {
      const server = yield* answering(status, false)
      const error = yield* Effect.flip(run(server))
      assert.deepInclude(error, { request: "create", status })
      assert.deepStrictEqual(server.requests, ["POST"])
    }
  )

  for (const status of [200, 204, 302, 408, 409, 425, 499, 500, 502, 503, 504, 520]) {
    it.effect(`answered ${status} may have made the upload: its receipt tells, no repetition`, function* () {
      const server = yield* answering(status, true)
      yield* run(server)
      assert.strictEqual(count(server, "POST"), 1)
      assert.strictEqual(server.uploads.size, 1)
    })

    it.effect(`answered ${status} without a receipt is unknown, and never repeated`, function* () {
      const server = yield* answering(status, false)
      const error = yield* Effect.flip(run(server))
      assert.strictEqual(error._tag, "CreationUnknown")
      assert.include(error.message, "shows whether the upload was created")
      assert.strictEqual(count(server, "POST"), 1)
      assert.strictEqual(count(server, "GET"), 5)
    })
  }

  it.effect("that nobody heard of is sent again, and told as what failed, not as a doubt", function* () {
    const origin = yield* Effect.scoped(Loopback.serve(() => Promise.resolve()))
    const target = yield* Scene.targetAt(origin)
    const events: Array<UploadEvent.UploadEvent> = []
    const error = yield* Upload.events(target, source, { ...Scene.options, maxRetries: 2 }).pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.flip
    )
    assert.deepInclude(error, { _tag: "TransportFailure", sent: "no" })
    assert.deepStrictEqual(Tests.pluck(events, "_tag"), ["Retrying", "Retrying"])
  })

  it.effect("without a body, answered with upload-offset 1000: asks before it sends", function* () {
    const server = yield* ScriptedTus.changing("POST", (go) =>
      ScriptedTus.withHeaders(go(), { "upload-offset": "1000" })
    )
    yield* run(server)
    assert.deepStrictEqual(server.requests, ["POST", "HEAD", "PATCH"])
    assert.isTrue(server.uploads.get("u0")?.bytes.equals(bytes))
  })

  it.effect("without a body, lost, with a finished receipt: asks, and sends every byte", function* () {
    const server = yield* ScriptedTus.make
    server.meet = (request, go) => {
      const answer = go()
      if (request.method === "POST") return "cut"
      const finished = `"offset":${bytes.length},"finished":true`
      return { ...answer, body: answer.body?.replace('"offset":0,"finished":false', finished) }
    }
    yield* run(server)
    assert.deepStrictEqual(server.requests, ["POST", "GET", "HEAD", "PATCH"])
    assert.isTrue(server.uploads.get("u0")?.bytes.equals(bytes))
  })

  it.effect(
    "of a part, lost in the last run, with a finished receipt: asks, and sends every byte",
    UploadJournal.layerMemory(),
    function* () {
      const [part, size] = [1024 * 1024, 2 * 1024 * 1024]
      const server = yield* ScriptedTus.make
      let isLost = true
      server.meet = ({ method }, go) => {
        const answer = go()
        if (isLost) return method === "POST" ? "cut" : { status: 404 }
        const finished = `"offset":${part},"finished":true`
        return { ...answer, body: answer.body?.replaceAll('"offset":0,"finished":false', finished) }
      }
      const parts = UploadSource.fromBytes(Scene.content(size))
      const upload = Upload.journaled.run(server.target, parts, { ...Scene.options, parallel: 2 })
      assert.strictEqual((yield* Effect.flip(upload))._tag, "CreationUnknown")
      isLost = false
      yield* upload
      for (const method of ["POST", "HEAD", "PATCH"] as const) assert.strictEqual(count(server, method), 2, method)
      assert.isTrue([...server.uploads.values()].at(-1)?.bytes.equals(Scene.content(size)))
    }
  )
})

/**
 * A journal that somebody else wrote in: where it names another place than the upload had, nothing is sent.
 */
import { UploadEvent, UploadJournal, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Clock, Effect, FileSystem, Stream } from "effect"
import { assert, layer, Journals, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const source = UploadSource.fromBytes(Scene.content(300_000))
const options = { ...Scene.options, maxRetries: 0 } as const

/** The form of an entry in its file. */
interface AtRest {
  target: { tusUrl: string; assemblySslUrl: string; origins: ReadonlyArray<string> }
  state: { _tag: string; marker?: string; url?: string; length?: string; parts?: ReadonlyArray<unknown> }
  metadata: Record<string, string | null>
  size: string
  identity: string | null
}

/** An upload that broke off, its server, another server, and a way to edit what the journal says. */
const broken = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const server = yield* ScriptedTus.make
  const other = yield* ScriptedTus.make
  const folder = yield* Journals.folder
  server.meet = (request, go) => (request.method === "PATCH" || request.body.length > 0 ? "cut" : go())
  const inJournal = Effect.provide(UploadJournal.layerFileSystem(folder))
  yield* Upload.journaled.events(server.target, source, options).pipe(Stream.runDrain, Effect.ignore, inJournal)
  const name = (yield* fs.readDirectory(folder)).find((file) => file.endsWith(".json")) ?? ""
  const path = `${folder}/${name}`
  const entry: AtRest = JSON.parse(yield* fs.readFileString(path))
  assert.strictEqual(entry.state._tag, "Created")
  server.meet = (_, go) => go()
  const before = server.requests.length
  return {
    server,
    other,
    here: new URL(entry.target.tusUrl).origin,
    there: other.origin,
    entry,
    key: name.replace(".json", ""),
    inJournal,
    /** The entry with another target. */
    to: (change: Partial<AtRest["target"]>) => ({ target: { ...entry.target, ...change } }),
    edit: (change: Partial<AtRest>) => fs.writeFileString(path, JSON.stringify({ ...entry, ...change })),
    sent: () => [...server.requests.slice(before), ...other.requests]
  }
})

const u0 = "/resumable/files/u0"
const createdAt = (url: string) => ({ _tag: "Created", marker: "m", url })
const completedAt = (url: string) => ({ _tag: "Completed", url, length: "300000" })
const halves = (first: object, second: object) => ({
  _tag: "Parts",
  parts: [
    { piece: first, start: "0", end: "150000" },
    { piece: second, start: "150000", end: "300000" }
  ]
})

type Broken = Effect.Success<typeof broken>

/** What each way to go on with the entry fails with: the caller names the target, or only the key. */
const ways = ({ inJournal, key, server }: Broken, more: Partial<Upload.Options> = {}) =>
  [
    Upload.journaled.events(server.target, source, { ...options, ...more }),
    Upload.journaled.resumeEvents({ key }, source, { ...options, ...more })
  ].map((events) => inJournal(Effect.flip(Stream.runDrain(events))))

/** What is written into the entry, and the error that every way to go on with it ends in. */
const edits: Readonly<Record<string, readonly [(scene: Broken) => Partial<AtRest>, string]>> = {
  "an upload on another host": [({ there }) => ({ state: createdAt(there + u0) }), "UnsafeLocation"],
  "an upload on another host that the entry says is the service's": [
    ({ here, there, to }) => ({ state: createdAt(there + u0), ...to({ origins: [here, there] }) }),
    "UnsafeLocation"
  ],
  "another service altogether": [
    ({ there, to }) => ({
      state: createdAt(there + u0),
      ...to({ tusUrl: `${there}/resumable/files`, origins: [there] })
    }),
    "InvalidTarget"
  ],
  "another Assembly": [({ here, to }) => to({ assemblySslUrl: `${here}/assemblies/${"1".repeat(32)}` }), "JournalTorn"],
  "a Status on another host": [
    ({ entry, here, there, to }) => to({ assemblySslUrl: entry.target.assemblySslUrl.replace(here, there) }),
    "JournalTorn"
  ],
  "other metadata": [({ entry }) => ({ metadata: { ...entry.metadata, filename: "other.bin" } }), "JournalTorn"],
  "another length": [() => ({ size: "300001" }), "JournalTorn"],
  ...Object.fromEntries(
    ["/resumable/files/%2e%2e/index", "/resumable/files/../../index/doc", "/index/doc"].map((path) => [
      `the path ${path}`,
      [({ here }: Broken) => ({ state: createdAt(here + path) }), "UnsafeLocation"] as const
    ])
  ),
  "a host in another notation": [
    ({ here }) => ({ state: createdAt(here.replace("127.0.0.1", "0x7f.1") + u0) }),
    "UnsafeLocation"
  ],
  "a complete upload on another host": [({ there }) => ({ state: completedAt(there + u0) }), "UnsafeLocation"],
  "a part on another host": [
    ({ here, there }) => ({ state: halves(createdAt(here + u0), createdAt(there + u0)) }),
    "UnsafeLocation"
  ]
}

layer(Journals.platform)("An entry that was edited", (it) => {
  for (const [name, [change, tag]] of Object.entries(edits)) {
    for (const restart of [false, true]) {
      it.effect(`and names ${name} sends nothing${restart ? ", and removes nothing" : ""}`, function* () {
        const scene = yield* broken
        yield* scene.edit(change(scene))
        for (const way of ways(scene, { restart })) {
          const error = yield* way
          assert.strictEqual(error._tag, tag, error.message)
          assert.notMatch(error.message, /files\/u|index/)
        }
        assert.deepStrictEqual(scene.sent(), [])
      })
    }
  }

  it.effect.each([
    ["a Location", halves({ _tag: "Planned" }, { _tag: "Planned" }), "UnsafeLocation"],
    ["a receipt", { _tag: "Creating", marker: "m" }, "CreationUnknown"]
  ] as const)("and adds an origin does not make it one of the service's for %s", function* ([, state, tag]) {
    const scene = yield* broken
    scene.server.meet = (request, go) => {
      const answer = go()
      const body = answer.body?.replaceAll("/resumable/files/", `${scene.there}/resumable/files/`)
      const headers = request.method === "POST" ? { location: scene.there + u0 } : {}
      return ScriptedTus.withHeaders({ ...answer, body }, headers)
    }
    for (const way of ways(scene)) {
      yield* scene.edit({ state, ...scene.to({ origins: [scene.here, scene.there] }) })
      const error = yield* way
      assert.strictEqual(error._tag, tag, error.message)
    }
    assert.deepStrictEqual(scene.other.requests, [])
    assert.notInclude(scene.sent(), "PATCH")
  })

  it.effect("in nothing continues, whether the caller names the target or only the key", function* () {
    const scene = yield* broken
    yield* scene.edit({})
    yield* Upload.journaled.resumeEvents({ key: scene.key }, source, options).pipe(Stream.runDrain, scene.inJournal)
    assert.deepStrictEqual(scene.sent(), ["HEAD", "PATCH"])
  })

  it.effect("sends nothing to this machine while the service of the AssemblyClient is elsewhere", function* () {
    const scene = yield* broken
    const error = yield* Upload.journaled
      .resumeEvents({ key: scene.key }, source, options)
      .pipe(Stream.runDrain, Effect.flip, scene.inJournal, Scene.withClientOf("https://api.example.com"))
    assert.deepInclude(error, { _tag: "InvalidTarget", field: "assembly_ssl_url" })
    assert.deepStrictEqual(scene.sent(), [])
  })

  it.effect("sends nothing here if its Assembly is elsewhere", UploadJournal.layerMemory(), function* () {
    const local = yield* ScriptedTus.make
    const url = `${local.origin}/resumable/files/u0`
    const assemblySslUrl = `https://api.example.com/assemblies/${"0".repeat(32)}`
    const honest = yield* UploadTarget.make({ tusUrl: "https://api.example.com/resumable/files", assemblySslUrl })
    const edited = yield* UploadTarget.make({ tusUrl: `${local.origin}/resumable/files`, assemblySslUrl })
    const journal = yield* UploadJournal.UploadJournal
    const state = { _tag: "Created", marker: "m", url } as const
    const { entry, key } = yield* Journals.of(honest, source, state, yield* Clock.currentTimeMillis)
    for (const [target, tag] of [
      [edited, "InvalidTarget"],
      [honest, "UnsafeLocation"]
    ] as const) {
      yield* journal.put(key, { ...entry, target })
      assert.strictEqual((yield* Effect.flip(Upload.journaled.run(honest, source, options)))._tag, tag)
      assert.strictEqual((yield* Effect.flip(Upload.journaled.resume({ key }, source, options)))._tag, tag)
    }
    assert.deepStrictEqual(local.requests, [])
  })

  it.effect("continues on an origin that the caller adds, and on no other", function* () {
    const scene = yield* broken
    const moved = { tusUrl: `${scene.there}/resumable/files`, assemblySslUrl: scene.entry.target.assemblySslUrl }
    const target = yield* UploadTarget.make({ ...moved, baseUrl: scene.here, origins: [scene.there] })
    yield* scene.edit({
      state: completedAt(`${scene.there}/resumable/files/u0`),
      target: { ...moved, origins: target.origins.entries }
    })
    const refused = yield* Upload.journaled
      .resumeEvents({ key: scene.key }, source, options)
      .pipe(Stream.runDrain, Effect.flip, scene.inJournal)
    const message = `tus_url: the host ${new URL(scene.there).host} does not belong to the service; if it does, add its origin to the option origins`
    assert.strictEqual(refused.message, message)
    const allowed = Upload.journaled.resumeEvents({ key: scene.key, origins: [scene.there] }, source, options)
    assert.strictEqual((yield* scene.inJournal(UploadEvent.result(allowed))).length, 300_000n)
    assert.deepStrictEqual(scene.sent(), [])
  })
})

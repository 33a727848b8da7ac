import { Assemblies, Dam } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { Emulator } from "@assembly-effect/emulator"
import { Identifier } from "@assembly-effect/schema"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHash } from "node:crypto"
import { encoded as text, layer as layerEmulator, send, storeAt, uploadOne, temporaryFolder } from "./support.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** Stores the bytes. Returns the file of the result and its URL. */
const store = Effect.fnUntraced(function* (at: string, bytes: Uint8Array) {
  const status = yield* uploadOne({ steps: storeAt(at) }, bytes)
  const file = Results.of(status).get("stored")?.[0]
  return { file: file ?? {}, url: file?.ssl_url ?? "" }
})

layer(layerEmulator())("Results", (it) => {
  it.effect("has the URL of the stored version in the Status", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const older = yield* store("two versions/a?#ü.txt", text("older"))
    const newer = yield* store("two versions/a?#ü.txt", text("newer"))
    assert.match(older.url, new RegExp(`^${baseUrl}/results/[\\w-]+/a%3F%23%C3%BC\\.txt$`))
    assert.notStrictEqual(older.url, newer.url)
    const read = ({ file }: typeof older) => Results.download(file).pipe(Stream.decodeText, Stream.mkString)
    assert.deepStrictEqual([yield* read(older), yield* read(newer)], ["older", "newer"])
  })

  it.effect("has a URL for the results of every robot, and for the uploads", function* () {
    const steps = {
      ":original": { robot: "/upload/handle" },
      hashed: { use: ":original", robot: "/file/hash" },
      waited: { use: "hashed", robot: "/emulator/wait", seconds: 0 }
    }
    const created = yield* uploadOne({ steps }, text("bytes"))
    const status = yield* Assemblies.awaitCompletion(created.assembly_id, { interval: "10 millis" })
    const files = [...(status.uploads ?? []), ...Results.of(status).values()].flat()
    assert.strictEqual(files.length, 4)
    for (const { ssl_url, url } of files) {
      assert.strictEqual(url, ssl_url)
      const { headers, status: code, text: found } = yield* send(HttpClientRequest.get(ssl_url ?? ""))
      assert.deepStrictEqual([code, found, headers["content-type"]], [200, "bytes", "text/plain"])
    }
  })

  it.effect("answers ranges", function* () {
    const { url } = yield* store("ranges.txt", text("0123456789"))
    const { headers: own } = yield* send(HttpClientRequest.head(url))
    const etag = own["etag"] ?? ""
    const date = own["last-modified"] ?? ""
    assert.strictEqual(etag, `"${sha256(text("0123456789"))}"`)
    assert.deepInclude(own, { "content-length": "10", "accept-ranges": "bytes", "content-type": "text/plain" })

    const answered = (headers: Readonly<Record<string, string>>) =>
      Effect.map(send(HttpClientRequest.get(url, { headers })), (answer) => [
        answer.status,
        answer.text,
        answer.headers["content-range"]
      ])
    const whole = [200, "0123456789", undefined]
    const last = "bytes=9-"
    for (const [headers, expected] of [
      [{}, whole],
      [{ range: "bytes=3-" }, [206, "3456789", "bytes 3-9/10"]],
      [{ range: "bytes=3-3" }, [206, "3", "bytes 3-3/10"]],
      [{ range: "bytes=8-99" }, [206, "89", "bytes 8-9/10"]],
      [{ range: "bytes=-4" }, [206, "6789", "bytes 6-9/10"]],
      [{ range: "bytes=-99" }, [206, "0123456789", "bytes 0-9/10"]],
      [{ range: "bytes=10-" }, [416, "", "bytes */10"]],
      [{ range: "bytes=-0" }, [416, "", "bytes */10"]],
      ...["5-3", "-", "1-2,4-5", "a-"].map((range) => [{ range: `bytes=${range}` }, whole] as const),
      [{ range: "lines=1-2" }, whole],
      ...[etag, date].map((one) => [{ range: last, "if-range": one }, [206, "9", "bytes 9-9/10"]] as const),
      ...['"other"', `W/${etag}`, "Sat, 21 Nov 2020 12:00:00 GMT"].map(
        (one) => [{ range: last, "if-range": one }, whole] as const
      )
    ] as const) {
      assert.deepStrictEqual<unknown>(yield* answered(headers), expected, JSON.stringify(headers))
    }
  })

  it.effect("serves an empty file", function* () {
    const { file, url } = yield* store("empty.txt", new Uint8Array(0))
    assert.strictEqual((yield* send(HttpClientRequest.get(url, { headers: { range: "bytes=0-" } }))).status, 416)
    assert.strictEqual(yield* Results.download(file).pipe(Stream.decodeText, Stream.mkString), "")
  })

  it.effect("sends files only as attachments; answers 404 for an unknown result, or a deleted asset", function* () {
    const { file, url } = yield* store("page.html", text("<script>alert(1)</script>"))
    const page = yield* send(HttpClientRequest.get(url))
    assert.strictEqual(page.headers["content-disposition"], "attachment; filename*=UTF-8''page.html")
    yield* Dam.delete(Identifier.AssetId.make(file.asset_id ?? ""))
    for (const gone of [url, "/results/AAAAAAAAAAAAAAAAAAAAAA/page.html"]) {
      assert.strictEqual((yield* send(HttpClientRequest.get(gone))).status, 404)
    }
  })

  it.effect("lets a page of another origin download a result", function* () {
    const { url } = yield* store("page.txt", text("for pages"))
    const origin = "https://page.example.com"
    const headers = { origin, "sec-fetch-site": "cross-site" }
    const answer = yield* send(HttpClientRequest.get(url, { headers }))
    assert.strictEqual(answer.headers["access-control-allow-origin"], origin)
    assert.include(answer.headers["access-control-expose-headers"], "content-range")
    const preflight = yield* send(
      HttpClientRequest.options(url, { headers: { ...headers, "access-control-request-method": "GET" } })
    )
    assert.include(preflight.headers["access-control-allow-headers"], "if-range")
  })
})

live("a result can be downloaded after a restart on another port", NodeServices.layer, function* () {
  const data = yield* temporaryFolder
  const status = yield* Effect.provide(uploadOne({ steps: storeAt("kept.txt") }, text("kept")), layerEmulator({ data }))
  yield* Effect.gen(function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const [file = {}] = Results.of(yield* Assemblies.get(status.assembly_id)).get("stored") ?? []
    assert.isTrue(file.ssl_url?.startsWith(`${baseUrl}/results/`))
    const { tus_uploads, uploads } = yield* Assemblies.get(status.assembly_id)
    const url = tus_uploads?.[0]?.upload_url
    assert.deepStrictEqual([uploads?.[0]?.tus_upload_url, file.tus_upload_url], [url, url])
    assert.isTrue(url?.startsWith(`${baseUrl}/resumable/files/`))
    assert.strictEqual(yield* Results.download(file).pipe(Stream.decodeText, Stream.mkString), "kept")
  }).pipe(Effect.provide(layerEmulator({ data })))
})

/**
 * Responses that are small on the wire and large in memory: every limit counts the bytes that the HTTP client returns.
 * The clients run in a separate process, whose peak memory is measured.
 */
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as Behaviour from "@assembly-effect/testkit/hostile/Behaviour"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

const mebi = 1024 * 1024

/** The decompressed size of each bomb, in bytes. */
const size = 512 * mebi

/**
 * The memory that a client may use, in MiB: for windows of decoders, pieces, and garbage. A client that reads a whole
 * bomb uses more than `size`. Under load, a client uses up to 204 MiB, because its garbage is collected later.
 */
const bound = 384

const program = new URL("fixtures/bombed.ts", import.meta.url).pathname

interface Report {
  /** By client, and then by base URL. */
  readonly outcomes: ReadonlyArray<ReadonlyArray<Readonly<Record<string, string>>>>
  readonly mebibytes: number
}

const runClients = (clients: ReadonlyArray<string>, baseUrls: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<Report>((resolve, reject) => {
        execFile(process.execPath, [program, clients.join(), ...baseUrls], (error, stdout) => {
          if (error === null) resolve(JSON.parse(stdout))
          else reject(error)
        })
      })
  )

/** A service whose responses are all the same bomb, with the status under which the client reads it. */
const service = (coding: Behaviour.Coding, body: Buffer, length: Behaviour.Length) => {
  const answer = (status: number, headers = {}) => Behaviour.bomb(status, coding, body, length, headers)
  return Loopback.serve(async (request, response) => {
    for await (const _chunk of request);
    const tus = { "tus-resumable": "1.0.0" }
    if (request.method === "POST" && request.url !== "/token") {
      // A creation with a body gets no response, so that the receipts are requested.
      if (request.headers["content-type"] === "application/offset+octet-stream") response.destroy()
      else answer(500, tus)(request, response)
    } else answer(200, tus)(request, response)
  })
}

const clients = ["fetch", "fetch without content-encoding", "undici", "undici that decompresses"] as const

describe.each(Behaviour.codings)("a bomb of %s", (coding) => {
  const made = Behaviour.compressed(coding, size)

  it.live(`is read only up to the limit by ${clients.join(", ")}`, function* () {
    const body = yield* Effect.promise(() => made)
    assert.isBelow(body.length, 4 * mebi)
    const baseUrls = [yield* service(coding, body, "true"), yield* service(coding, body, "missing")]
    const { mebibytes, outcomes } = yield* runClients(clients, baseUrls)
    const expected = {
      "the answer of an operation": "UnexpectedResponse",
      "an error of tus": "ServerFailure",
      "the body of a success of tus": "success",
      "receipts, after a creation without an answer": "CreationUnknown",
      "a token": "UnexpectedTokenResponse"
    }
    assert.deepStrictEqual(
      outcomes,
      clients.map(() => [expected, expected])
    )
    assert.isBelow(mebibytes, bound)
  })
})

/**
 * The same call with Effect alone: sends one signed request and decodes its response. It handles no errors of the
 * service.
 */
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Count = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isInt())
const Statistics = Schema.Struct({
  ok: Schema.Literal("ASSEMBLY_STATS_FOUND"),
  granularity: Count,
  stats: Schema.Array(
    Schema.Struct({ data_from_ts: Count, num_assemblies: Count, avg_upload_speed: Schema.Finite, num_bytes: Count })
  ),
  totalAssemblies: Count,
  totalBytesProcessed: Count
})

const utf8 = new TextEncoder()

const statistics = Effect.gen(function* () {
  const mac = yield* Mac.Mac
  const random = yield* SecureRandom.SecureRandom
  const http = yield* HttpClient.HttpClient
  const key = yield* Mac.key(Mac.hmacSha384, utf8.encode("secret"))
  const expires = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, "5 minutes"))
  const params = JSON.stringify({
    auth: { key: "key", expires },
    nonce: yield* random.uuidV4(),
    region: "all",
    since: "2026-01-01T00:00:00Z"
  })
  const signature = `sha384:${Hex.encode(yield* mac.sign(key, utf8.encode(params)))}`
  const response = yield* http.get("https://api2.example.com/assembly_stats", { urlParams: { params, signature } })
  return yield* HttpClientResponse.schemaJson(Schema.Struct({ body: Statistics }))(response)
})

const crypto = Layer.provideMerge(Mac.layerWebCrypto, SecureRandom.layerWebCrypto)

export default {
  fetch: () =>
    statistics.pipe(
      Effect.map(({ body }) => Response.json(body.totalAssemblies)),
      Effect.provide([crypto, FetchHttpClient.layer]),
      Effect.runPromise
    )
}

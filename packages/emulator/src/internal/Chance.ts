import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Database from "./Database.ts"

/** The bytes of SHA-256 over a seed and a counter, one after the other. */
const stream = (seed: string) => {
  let counter = 0
  let left: Uint8Array = new Uint8Array()
  return (size: number): Uint8Array => {
    const chunks = [left]
    for (let length = left.length; length < size; length += 32) {
      chunks.push(createHash("sha256").update(`${seed}/${counter++}`).digest())
    }
    const bytes = Buffer.concat(chunks)
    left = bytes.subarray(size)
    return new Uint8Array(bytes.subarray(0, size))
  }
}

/** Grows with whatever is stored under an id that was drawn, so that none is drawn twice for the same data. */
const storedSql = `
SELECT (SELECT count(*) FROM assemblies) + (SELECT count(*) FROM uploads) + (SELECT count(*) FROM versions)
  + (SELECT count(*) FROM folders) + (SELECT count(*) FROM notifications) AS stored`

const seeded = (seed: string) =>
  Layer.effect(
    SecureRandom.SecureRandom,
    Effect.map(Database.Database, (database) => {
      const { stored } = Option.getOrThrow(database.query(Schema.Struct({ stored: Schema.Int }), storedSql).first({}))
      return SecureRandom.make(stream(`${seed}/${stored}`))
    })
  )

/** Where ids and keys come from: with a seed, the same ones in the same order with every run. */
export const layer = (seed: string | undefined): Layer.Layer<SecureRandom.SecureRandom, never, Database.Database> =>
  seed === undefined ? SecureRandom.layerWebCrypto : seeded(seed)

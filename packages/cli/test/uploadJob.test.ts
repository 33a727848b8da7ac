import { AssemblyUploadEvent as Event } from "@assembly-effect/tus"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import * as UploadJob from "../src/internal/uploadJob.ts"

it.effect("a number of bytes in JSON keeps every digit", function* () {
  const safe = BigInt(Number.MAX_SAFE_INTEGER)
  const event = Event.Progress({ sent: safe, acknowledged: safe + 2n, total: undefined })
  const record = yield* UploadJob.toRecord(event, [])
  expect(record).toMatchObject({ event: "Progress", sent: 9_007_199_254_740_991, acknowledged: "9007199254740993" })
})

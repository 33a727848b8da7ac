/**
 * Digests need `crypto.subtle`. A page has it only on https and on localhost.
 */
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import { JournalFailed } from "../JournalError.ts"

/** Whether this runtime can make a digest. */
export const isAvailable: Effect.Effect<boolean> = WebCrypto.use((crypto: Crypto | undefined) =>
  Effect.succeed(crypto?.subtle !== undefined)
)

/** The reason why not, as the text of an error. */
export const problem = "crypto.subtle is unavailable; serve the page over https or from localhost"

/** Fails if a journal cannot compute the keys of its entries. */
export const forJournal: Effect.Effect<void, JournalFailed> = Effect.flatMap(isAvailable, (isThere) =>
  isThere ? Effect.void : Effect.fail(new JournalFailed({ action: "write", problem }))
)

/** A group has a path, and `make` has none: a path in its options would have no effect. */
import { PassThrough, Signatures, Webhooks } from "@assembly-effect/http"
import { Effect } from "effect"

const path = "/elsewhere"

// @ts-expect-error: `make` has no option `path`
export const upload = PassThrough.make({ policy: () => Effect.die("unused"), path })

// @ts-expect-error: `make` has no option `path`
export const sign = Signatures.make({ policy: () => Effect.die("unused"), path })

// @ts-expect-error: `make` has no option `path`
export const receive = Webhooks.make({ handle: () => Effect.void, path })

/**
 * The object stores of the application. A job names a store and a key. `Durable.start` opens the object to check it,
 * and a runner opens the object when it needs the bytes.
 *
 * @since 0.1.0
 */
import { type Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as WebSource from "@assembly-effect/tus/WebSource"
import { Context, Effect, Layer, Record } from "effect"
import type { HttpClient } from "effect/http"

/**
 * Opens the object `key` of one store. The identity of the source, such as an `ETag`, shows whether the object has
 * changed. A source without an identity is refused.
 *
 * @since 0.1.0
 * @category models
 */
export type Open<R = never> = (key: string) => Effect.Effect<Replayable, SourceFailed, R>

/**
 * The object stores by their names. Empty by default.
 *
 * @since 0.1.0
 * @category services
 */
export const ObjectStores: Context.Reference<Readonly<Record<string, Open>>> = Context.Reference(
  "@assembly-effect/workflow/ObjectStores",
  { defaultValue: () => ({}) }
)

/**
 * A store whose objects are read at presigned URLs. `presign` makes the URL of an object. `presign` is called each time
 * the object is opened, and the URL is not stored. The server must accept ranges and send a strong `ETag`. The identity
 * of an object is its `ETag` and its URL without the query.
 *
 * @example
 * ObjectStores.layer({ videos: ObjectStores.presigned((key) => signedAddressOf("videos", key)) })
 *
 * @since 0.1.0
 * @category constructors
 */
export const presigned =
  <R = never>(
    presign: (key: string) => Effect.Effect<string | URL, SourceFailed, R>
  ): Open<R | HttpClient.HttpClient> =>
  (key) =>
    Effect.gen(function* () {
      const source = yield* WebSource.fromUrl(yield* presign(key), { isPresigned: true })
      if (source._tag === "Replayable") return source
      return yield* new SourceFailed({
        kind: "Unreadable",
        description: "the object store accepts no ranges, or sends no strong ETag"
      })
    })

/**
 * Registers the object stores of the application. All runners, and all clients that start jobs, must register stores
 * with the same names.
 *
 * @example
 * ObjectStores.layer({ videos: ObjectStores.presigned((key) => signedAddressOf("videos", key)) })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R = never>(stores: Readonly<Record<string, Open<R>>>): Layer.Layer<never, never, R> =>
  Layer.effect(
    ObjectStores,
    Effect.map(Effect.context<R>(), (context) =>
      Record.map(stores, (open) => (key: string) => Effect.provideContext(open(key), context))
    )
  )

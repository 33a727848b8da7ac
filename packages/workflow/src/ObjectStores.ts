/**
 * The object stores of the application. A job names a store and a key; a runner opens the object when it needs the
 * bytes.
 *
 * @since 0.1.0
 */
import type { Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Opens the object `key` of one store. The identity of the source shows whether the object has changed, such as an
 * `ETag`. A source without an identity is refused.
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
 * Registers the object stores of the application. Each runner has the same names.
 *
 * **Details**
 *
 * `WebSource` of `@assembly-effect/tus` reads an address by ranges, and its identity is the `ETag`. The address is made
 * at run time, and is not stored.
 *
 * @example
 * ObjectStores.layer({ videos: (key) => Effect.flatMap(presign(key), (url) => WebSource.fromUrl(url)) })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R = never>(stores: Readonly<Record<string, Open<R>>>): Layer.Layer<never, never, R> =>
  Layer.effect(
    ObjectStores,
    Effect.map(Effect.context<R>(), (context) =>
      Object.fromEntries(
        Object.entries(stores).map(([name, open]) => [name, (key: string) => Effect.provideContext(open(key), context)])
      )
    )
  )

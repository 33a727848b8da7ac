import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Refusal from "../http/refusal.ts"

/** A URL of limited length, because a page of the Assembly list can contain the URLs of 5000 Assemblies. */
const Url = Schema.String.check(Schema.isMaxLength(2048))

/**
 * Decodes the fields of the params that only the emulator limits. Also limits the length of `notify_url`.
 * These rules are beyond the specification, which defines only `auth.max_size` ("Limits").
 */
const Options = Schema.Struct({
  notify_url: Schema.optionalKey(Schema.NullOr(Url)),
  redirect_url: Schema.optionalKey(Schema.NullOr(Url)),
  emit_execution_progress: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  notification_payload: Schema.optionalKey(Schema.NullOr(Schema.Array(Assembly.NotificationPayload))),
  quiet: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  auth: Schema.optionalKey(
    Schema.Struct({
      max_size: Schema.optionalKey(
        Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })))
      )
    })
  )
})

const decode = Schema.decodeUnknownEffect(Options)

/** Reads the options from params that are not decoded yet. */
export const read = (params: Schema.JsonObject) =>
  decode(params).pipe(
    Effect.map(({ auth, emit_execution_progress, notification_payload, quiet, redirect_url }) => ({
      redirectUrl: redirect_url ?? undefined,
      emitProgress: emit_execution_progress ?? false,
      notificationPayload: notification_payload ?? [],
      isQuiet: quiet ?? false,
      maxSize: auth?.max_size ?? undefined
    })),
    Effect.mapError(({ message }) => Refusal.refuse("INVALID_FORM_DATA", 400, message))
  )

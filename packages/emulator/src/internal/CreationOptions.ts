import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Refusal from "./Refusal.ts"

/** What else the params of a creation may say. Beyond the specification, except `auth.max_size` ("Limits"). */
const Options = Schema.Struct({
  redirect_url: Schema.optionalKey(Schema.NullOr(Schema.String)),
  emit_execution_progress: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  auth: Schema.optionalKey(
    Schema.Struct({
      max_size: Schema.optionalKey(
        Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })))
      )
    })
  )
})

export interface CreationOptions {
  readonly redirectUrl: string | undefined
  readonly emitProgress: boolean
  /** Bytes. */
  readonly maxSize: number | undefined
}

const decode = Schema.decodeUnknownEffect(Options)

/** Reads them from the params as they came. */
export const read = (params: Schema.JsonObject): Effect.Effect<CreationOptions, Refusal.Refusal> =>
  decode(params).pipe(
    Effect.map(({ auth, emit_execution_progress, redirect_url }) => ({
      redirectUrl: redirect_url ?? undefined,
      emitProgress: emit_execution_progress ?? false,
      maxSize: auth?.max_size ?? undefined
    })),
    Effect.mapError(({ message }) => new Refusal.Refusal({ code: "INVALID_FORM_DATA", status: 400, message }))
  )

/** The host of durable jobs: the service behind `Durable`. */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type * as UploadSteps from "@assembly-effect/tus/UploadSteps"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Durable from "../Durable.ts"
import type * as DurableError from "../DurableError.ts"

/** The options of each upload. The package sets the metadata. */
export type UploadOptions = Omit<UploadSteps.Options, "metadata">

export declare const make: (
  options: Durable.Options,
  role: { readonly runs: boolean }
) => Effect.Effect<
  Durable.Durable["Service"],
  ApiError.InvalidRequest | DurableError.InvalidSecret | DurableError.StoreFailed,
  Durable.Requirements | Scope.Scope
>

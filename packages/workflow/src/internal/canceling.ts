/** Cancels the Assembly of an attempt. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { InvalidSecret, StoreFailed } from "../DurableError.ts"
import * as Journal from "./journal.ts"
import type { Row } from "./row.ts"
import type { Secrets } from "./secrets.ts"

/** The errors of a cancellation. After such an error, the Assembly may still run. */
export type CancelError = InvalidSecret | StoreFailed | Effect.Error<ReturnType<typeof Assemblies.cancel>>

/** Whether an error says that the service has no Assembly with this id. */
const isNotFound = (error: { readonly _tag: string; readonly status?: number }): boolean =>
  error._tag === "ServiceFailure" && error.status === 404

/**
 * Cancels an Assembly, and returns whether the Assembly had completed before. If the service has no such Assembly, the
 * request is repeated twice, because the request that creates the Assembly may still arrive. If the Assembly is then
 * still missing, nothing has to be canceled.
 */
const cancelAssembly = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.map((status) => Assembly.state(status) === "Completed"),
    Effect.retry({ while: isNotFound, schedule: Schedule.exponential("200 millis"), times: 2 }),
    Effect.catchIf(isNotFound, () => Effect.succeed(false))
  )

/** After these errors, {@link cancel} does not repeat the request. */
const final: ReadonlySet<CancelError["_tag"]> = new Set(["InvalidSecret", "StoreFailed"])

/** How often {@link cancel} repeats the request after a failure. */
const retries = 4

/**
 * Cancels the Assembly of an attempt, and returns whether the Assembly had completed before. Succeeds only if no
 * Assembly was announced, or if the service has confirmed that the Assembly does not run.
 */
export const cancel = (secrets: Secrets, row: Row): Effect.Effect<boolean, CancelError, AssemblyClient> =>
  Effect.flatMap(
    Journal.assemblyId(secrets, row),
    Option.match({ onNone: () => Effect.succeed(false), onSome: cancelAssembly })
  ).pipe(
    Effect.retry({
      while: ({ _tag }) => !final.has(_tag),
      schedule: Schedule.exponential("200 millis"),
      times: retries
    })
  )

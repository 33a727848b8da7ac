import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Fails if an Assembly has failed, was canceled or was aborted. */
export const completed = (status: Assembly.Status): Effect.Effect<void, Assemblies.AssemblyError> =>
  Option.match(Assemblies.outcome(status), {
    onNone: () => Effect.void,
    onSome: (outcome) => Effect.asVoid(Effect.fromResult(outcome))
  })

import * as Operations from "@assembly-effect/api/Billing"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as BillStore from "./billStore.ts"

/** The service reports a missing bill with status 200 (beyond the specification). */
const notFound = Refusal.refuse("BILL_NOT_FOUND", 200, "No Assembly of the Workspace ended in this month.")

const routes = Effect.gen(function* () {
  const bills = yield* BillStore.make

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      // The operation has no error code for invalid input.
      invalid: Refusal.invalidParams,
      handle: ({ authKey, path }) =>
        Effect.flatMap(
          bills.find(authKey.workspace, path.month),
          Option.match({ onNone: () => Effect.fail(notFound), onSome: Effect.succeed })
        )
    })
  ])
})

/**
 * The route `/bill/:month`. The details of this route are beyond the specification, which names the operation but does
 * not define it.
 */
export const layer = HttpRouter.addAll(routes)

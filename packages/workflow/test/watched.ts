/** Ways for a test to see, change and lose what a program does, until the scope closes. */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { Effect } from "effect"
import { StatementSync } from "node:sqlite"

/** Calls `wrap` instead of each statement of SQLite in this process. `run` runs the statement. */
export const statements = (wrap: (statement: StatementSync, run: () => Array<unknown>) => Array<unknown>) => {
  const { all, run } = StatementSync.prototype
  return Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, method] of Object.entries({ all, run })) {
        const wrapped = function (this: StatementSync, ...params: Array<never>) {
          return wrap(this, () => Reflect.apply(method, this, params))
        }
        Object.assign(StatementSync.prototype, { [name]: wrapped })
      }
    }),
    () => Effect.sync(() => Object.assign(StatementSync.prototype, { all, run }))
  )
}

/** Runs `instead` for each request of an operation. `run` sends the request. */
export const requests = (
  operation: string,
  instead: <A, E>(run: Effect.Effect<A, E>, input: unknown) => Effect.Effect<A, E>
) =>
  Effect.updateService(AssemblyClient, (client) =>
    AssemblyClient.of({
      ...client,
      run: (one, input) => (one.name === operation ? instead(client.run(one, input), input) : client.run(one, input))
    })
  )

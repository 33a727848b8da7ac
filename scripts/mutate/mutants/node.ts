import { changes } from "../Mutant.ts"

export const node = [
  ...changes(
    "packages/node/src/LeaseHolder.ts",
    ["LeaseHolder"],
    [
      {
        name: "a holder of another boot is looked for in this one",
        find: `other.boot === own.boot && other.pids === own.pids`,
        replace: `other.pids === own.pids`
      },
      {
        name: "a holder of another process namespace is looked for in this one",
        find: `other.boot === own.boot && other.pids === own.pids`,
        replace: `other.boot === own.boot`
      },
      {
        name: "a process that got the number of a holder is the holder",
        find: `found.started !== started || ended.has(found.state)`,
        replace: `ended.has(found.state)`
      },
      {
        name: "a process that ended and waits for its parent is at work",
        find: `found.started !== started || ended.has(found.state)`,
        replace: `found.started !== started`
      },
      {
        name: "every holder is gone",
        find: `onSome: (found) => found.started !== started ||`,
        replace: `onSome: (found) => found.started === started ||`
      }
    ]
  ),
  ...changes(
    "packages/node/src/UndiciClient.ts",
    ["UndiciClient"],
    [
      {
        name: "our client is not registered",
        find: `Effect.sync(() => PieceMemory.register(client))`,
        replace: `Effect.sync(() => client)`
      }
    ]
  )
]

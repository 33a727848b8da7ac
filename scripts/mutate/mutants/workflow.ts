import { changes } from "../Mutant.ts"

const internal = "packages/workflow/src/internal"

export const workflow = [
  ...changes(
    `${internal}/transfer.ts`,
    ["Announced"],
    [
      {
        name: "the creation of an upload is not announced",
        find: `if (!(yield* store.announce(row, counts))) return`,
        replace: `if (counts.length === 0) return`
      },
      {
        name: "an announced upload is created again",
        find: `if (known === 0 || !announced.mayExist) return`,
        replace: `if (known >= 0) return`
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["States"],
    [
      {
        name: "a service that fails ends the job",
        find: `status >= 500 || status === 429`,
        replace: `status === 429`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["States", "Queue"],
    [
      {
        name: "an Assembly that still runs counts as canceled",
        find: `      Effect.filterOrFail(Assembly.isOver, () => ({ _tag: "StillRuns" as const })),\n`,
        replace: ``
      },
      {
        name: "every queued job sends at once",
        find: `      jobs.withPermit,\n`,
        replace: ``
      },
      {
        name: "an attempt that fails leaves its Assembly behind",
        find: `if (Option.isSome(assemblyId)) yield* Effect.ignore(cancelAssembly(assemblyId.value))`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/derive.ts`,
    ["Secrets"],
    [
      { name: "a short secret is accepted", find: `const minBytes = 32`, replace: `const minBytes = 1` },
      {
        name: "an earlier attempt uses the newest secret",
        find: `derivations.find((known) => known.fingerprint === fingerprint)`,
        replace: `derivations.find((known) => known.fingerprint !== "")`
      }
    ]
  ),
  ...changes(
    `${internal}/jobAtRest.ts`,
    ["States"],
    [
      {
        name: "a Redacted value is stored in plain text",
        find: `if (Redacted.isRedacted(value)) {`,
        replace: `if (Redacted.isRedacted(value) && path.length === 0) {`
      }
    ]
  ),
  ...changes(
    `${internal}/sources.ts`,
    ["States", "ObjectStores"],
    [
      {
        name: "a changed source is sent",
        find: ` || was.identity !== atRest.identity`,
        replace: ``
      },
      {
        name: "a store that refuses once ends the job",
        find: `error.kind === "Unreadable" && source._tag === "Object"`,
        replace: `error.kind === "NotReplayable" && source._tag === "Object"`
      }
    ]
  ),
  ...changes(
    "packages/workflow/src/ObjectStores.ts",
    ["ObjectStores"],
    [
      {
        name: "a signature is a part of the identity",
        find: `{ isPresigned: true }`,
        replace: `{ isPresigned: false }`
      }
    ]
  ),
  ...changes(
    `${internal}/store.ts`,
    ["States"],
    [
      {
        name: "a queued job waits for its cancellation",
        find: `CASE state WHEN 'Queued' THEN 'Canceled' ELSE`,
        replace: `CASE state WHEN 'Nothing' THEN 'Canceled' ELSE`
      }
    ]
  ),
  ...changes(
    `${internal}/starting.ts`,
    ["States"],
    [
      {
        name: "another job has the same key",
        find: `row === undefined || row.job !== job`,
        replace: `row === undefined`
      }
    ]
  ),
  ...changes(
    `${internal}/retention.ts`,
    ["States"],
    [
      {
        name: "the engine keeps what it stored",
        find: `yield* storage.clearAddress(`,
        replace: `yield* Effect.succeed(`
      }
    ]
  ),
  ...changes(
    `${internal}/jobWorkflow.ts`,
    ["States"],
    [
      {
        name: "a job that expects a notification looks all the time",
        find: `isExpecting ? Infinity :`,
        replace: `isExpecting ? 0.01 :`
      }
    ]
  ),
  ...changes(
    "packages/workflow/src/DurableSqlite.ts",
    ["Secrets"],
    [{ name: "two processes run the same jobs", find: `isExclusive: true`, replace: `isExclusive: false` }]
  ),
  ...changes(
    `${internal}/secretFile.ts`,
    ["Secrets"],
    [{ name: "others can read the secret", find: `mode: 0o600`, replace: `mode: 0o644` }]
  ),
  ...changes(
    "packages/workflow/src/DurablePostgres.ts",
    ["DurablePostgres"],
    [
      {
        name: "the secret is checked after the connection",
        find: `yield* Derive.make(options.secrets)`,
        replace: `yield* Effect.void`
      },
      {
        name: "an expiry may be too short for a refresh",
        find: `minimum: shortestExpiry,`,
        replace: `minimum: Duration.zero,`
      },
      {
        name: "the locks may take every connection",
        find: `Settings.whole(options.database.maxConnections, 2)`,
        replace: `Settings.whole(options.database.maxConnections, 1)`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["Replayed"],
    [
      {
        name: "a job whose bytes were recorded before its runner died is forgotten",
        find: `row.state === "Processing"`,
        replace: `row.state === "Queued"`
      }
    ]
  )
]

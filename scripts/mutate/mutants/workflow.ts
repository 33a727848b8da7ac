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
        find: `error.status >= 500 || `,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Refused"],
    [
      {
        name: "a refused account ends the jobs",
        find: `ofAccount.has(error.status)`,
        replace: `error.status === 0`
      },
      {
        name: "a proxy that refuses an upload ends the job",
        find: `    case "UploadRefused":\n      return ofAccount`,
        replace: `      return ofAccount`
      }
    ]
  ),
  ...changes(
    `${internal}/canceling.ts`,
    ["States"],
    [
      {
        name: "an Assembly that still runs counts as canceled",
        find: `    Effect.filterOrFail(Assembly.isOver, () => new StillRuns()),\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/host.ts`,
    ["Race"],
    [
      {
        name: "a cancellation that meets a retry cancels nothing",
        find: `Store.hasEnded(row) || row.state === "Canceling" ? Store.toSummary(row) : yield* cancel(key)`,
        replace: `Store.toSummary(row)`
      }
    ]
  ),
  ...changes(
    `${internal}/failure.ts`,
    ["Secrets"],
    [
      {
        name: "a stored failure has the beginning of an id",
        find: `text.replaceAll(abbreviation, "the Assembly")`,
        replace: `text`
      },
      {
        name: "a stored failure has a part of an id",
        find: `assemblyId === undefined ? [] : [assemblyId]`,
        replace: `assemblyId === undefined ? [] : []`
      }
    ]
  ),
  ...changes(
    `${internal}/deployment.ts`,
    ["Deployment"],
    [
      {
        name: "a process with other secrets joins",
        find: `if (!isKnown && !(yield* mayReplace)) return`,
        replace: `if (!isKnown && fingerprints.length === 0) return`
      },
      {
        name: "a rotation is not recorded",
        find: `const isSame = secrets === row.secrets && `,
        replace: `const isSame = secrets !== "" && `
      },
      {
        name: "a process without the newest secret is not warned",
        find: `newest === undefined || fingerprints.includes(newest.fingerprint)`,
        replace: `newest === undefined || fingerprints.length > 0`
      },
      {
        name: "another expiry is not said",
        find: `before === Duration.toMillis(expiry)`,
        replace: `before > 0`
      }
    ]
  ),
  ...changes(
    `${internal}/migrations.ts`,
    ["Deployment"],
    [
      {
        name: "the secrets of earlier jobs are forgotten",
        find: `if (begun.length === 0) return`,
        replace: `if (begun.length >= 0) return`
      }
    ]
  ),
  ...changes(
    `${internal}/outage.ts`,
    ["Full"],
    [
      {
        name: "a full disk is a line for each try",
        find: `if (now < next) return Effect.void`,
        replace: `if (now < -next) return Effect.void`
      }
    ]
  ),
  ...changes(
    "packages/workflow/src/DurableSqlite.ts",
    ["Full"],
    [
      {
        name: "a result that cannot be stored is forgotten",
        find: `Outage.layer.pipe(Layer.provide(SqlMessageStorage.layer))`,
        replace: `SqlMessageStorage.layer`
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Places"],
    [
      {
        name: "a job sends more files than its runner may",
        find: `Effect.mapError(Sources.mayReturn(file)), files.withPermit)`,
        replace: `Effect.mapError(Sources.mayReturn(file)))`
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Refused"],
    [
      { name: "401 and 407 end the jobs", find: `new Set([401, 402, 407])`, replace: `new Set([402])` },
      { name: "too many requests end the job", find: `|| error.status === 429 ||`, replace: `||` },
      { name: "a proxy that forbids ends the job", find: ` || error.status === 403`, replace: `` },
      {
        name: "a request that is refused is sent for an hour",
        find: `[400, 411, 413, 414, 415, 417, 422, 431]`,
        replace: `[400, 413, 422]`
      },
      {
        name: "a service that refuses the credentials fails a job that is processed",
        find: `isPassing(error) || isRefusal(error)`,
        replace: `isPassing(error)`
      }
    ]
  ),
  ...changes(
    `${internal}/jobAtRest.ts`,
    ["States"],
    [
      {
        name: "only the first wrong field is named",
        find: `[key, params, files].flatMap(issuesOf)`,
        replace: `[key, params, files].flatMap(issuesOf).slice(0, 1)`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["Attempt"],
    [
      {
        name: "a job whose Assembly was faster is canceled",
        find: `canceled.success ? "Completed" : "Canceled"`,
        replace: `canceled.success ? "Canceled" : "Canceled"`
      }
    ]
  ),
  ...changes(
    `${internal}/derive.ts`,
    ["Attempt"],
    [
      {
        name: "two files have the same upload",
        find: `derive("marker", execution, file, creation,`,
        replace: `derive("marker", execution, 0 * file, creation,`
      },
      {
        name: "a notification about an older secret is ignored",
        find: `Effect.forEach(derivations, ({ derive }) => derive(`,
        replace: `Effect.forEach([newest], ({ derive }) => derive(`
      }
    ]
  ),
  ...changes(
    `${internal}/store.ts`,
    ["Attempt"],
    [
      {
        name: "a notification finds the Assembly of the attempt before",
        find: `salt = NULL, lookup = NULL,`,
        replace: `salt = NULL,`
      },
      {
        name: "a new secret changes how a notification finds its job",
        find: `lookup = COALESCE(lookup, \${lookup})`,
        replace: `lookup = \${lookup}`
      }
    ]
  ),
  ...changes(
    `${internal}/places.ts`,
    ["Queue", "Lease"],
    [
      {
        name: "every queued job sends at once",
        find: `return ordinary.jobs.withPermit(own)`,
        replace: `return own`
      },
      {
        name: "a takeover waits for the uploads of its runner",
        find: `if (!isTakenOver) return`,
        replace: `if (true as boolean) return`
      }
    ]
  ),
  ...changes(
    `${internal}/lease.ts`,
    ["Lease"],
    [
      {
        name: "a runner that woke up sends what it has lost",
        find: `return wall - since.wall < expiryMillis && steady - since.steady < expiryNanos`,
        replace: `return wall >= since.wall || steady >= since.steady`
      },
      {
        name: "a lease is as old as the answer",
        find: `lease.confirm(asked, answered, at)`,
        replace: `lease.confirm(asked, answered, now(clock))`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["States"],
    [
      {
        name: "an attempt that fails leaves its Assembly behind",
        find: `    yield* Canceling.cancel(derive, row.value, execution).pipe(Effect.retry(Canceling.tries), Effect.ignore)\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/fileModes.ts`,
    ["Files"],
    [
      {
        name: "a database stays open to others",
        find: `yield* fs.chmod(file, ownerOnly)`,
        replace: `yield* Effect.void`
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
    `${internal}/jobAtRest.ts`,
    ["Retry"],
    [
      {
        name: "a relative path is stored",
        find: `DurableJob.path(resolve(file.source.path))`,
        replace: `DurableJob.path(file.source.path)`
      }
    ]
  ),
  ...changes(
    `${internal}/derive.ts`,
    ["Retry"],
    [
      {
        name: "a key that is used again gets the old Assembly",
        find: `salt === undefined ? [] : [salt]`,
        replace: `salt === undefined ? [] : []`
      }
    ]
  ),
  ...changes(
    `${internal}/sources.ts`,
    ["States", "ObjectStores"],
    [
      {
        name: "a changed source is sent",
        find: ` && was.identity === is.identity`,
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
        find: `row === undefined || !(yield* JobAtRest.isSame(row.job, job))`,
        replace: `row === undefined`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["Starved"],
    [
      {
        name: "a job that could not begin stays queued",
        find: `["Queued", "Uploading", "Processing"],`,
        replace: `["Uploading", "Processing"],`
      }
    ]
  ),
  ...changes(
    `${internal}/attendant.ts`,
    ["Starved"],
    [
      {
        name: "jobs that pause keep those behind them",
        find: `at === "Taking" || (`,
        replace: `at !== undefined || (`
      },
      {
        name: "cancellations that fail keep those behind them",
        find: `after: lastCanceling }`,
        replace: `after: undefined }`
      }
    ]
  ),
  ...changes(
    `${internal}/starting.ts`,
    ["Changed"],
    [
      {
        name: "the key of other bytes answers with the old result",
        find: `changed.length === 0 ?`,
        replace: `changed.length >= 0 ?`
      }
    ]
  ),
  ...changes(
    `${internal}/starting.ts`,
    ["Retry"],
    [
      {
        name: "the next attempt begins while the last one may run",
        find: `      yield* checkEnded(row)\n`,
        replace: ``
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
        find: `  yield* Derive.make(options.secrets)\n})`,
        replace: `})`
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
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Held"],
    [
      {
        name: "a runner that may have lost a job gives the rest of its file",
        find: `Stream.tap(source.bytes(start, end), () => held)`,
        replace: `source.bytes(start, end)`
      },
      {
        name: "a runner that may have lost a job sends requests",
        find: `HttpClient.mapRequestEffect(client, (request) => Effect.as(held, request))`,
        replace: `HttpClient.mapRequestEffect(client, (request) => Effect.succeed(request))`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["Held"],
    [
      {
        name: "a runner that may have lost a job says that it failed",
        find: `    yield* held(execution)\n    const row`,
        replace: `    const row`
      }
    ]
  ),
  ...changes(
    `${internal}/store.ts`,
    ["Attempt"],
    [
      {
        name: "the next attempt shows why the one before failed",
        find: `failure = NULL, waiting`,
        replace: `waiting`
      },
      {
        name: "the next attempt may be removed while it runs",
        find: ` ended_at = NULL,`,
        replace: ``
      },
      {
        name: "the next attempt was queued with the first one",
        find: ` queued_at = \${now}, ended_at = NULL`,
        replace: ` ended_at = NULL`
      },

      {
        name: "a cancellation is tried for ever",
        find: `COALESCE(canceled_at, \${now}) ELSE`,
        replace: `\${now} ELSE`
      }
    ]
  ),
  ...changes(
    `${internal}/starting.ts`,
    ["Attempt"],
    [
      {
        name: "the next attempt with other files loses its params",
        find: `changes.params ?? job.params`,
        replace: `changes.params ?? {}`
      },
      {
        name: "the file of a stored job must still exist",
        find: `if (Option.isSome(known)) {`,
        replace: `if (Option.isSome(known) && known.value.attempt < 0) {`
      }
    ]
  ),
  ...changes(
    `${internal}/canceling.ts`,
    ["Attempt"],
    [
      {
        name: "a job that was canceled in the queue cannot be retried",
        find: `row.begins === 0 ? Effect.succeed(false) : `,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/jobAtRest.ts`,
    ["Attempt"],
    [
      {
        name: "the order of the params makes another job",
        find: `.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Attempt"],
    [
      {
        name: "a job that sends says that it waits",
        find: `if (row.waiting !== undefined) yield*`,
        replace: `if (row.waiting === null) yield*`
      }
    ]
  ),
  ...changes(
    `${internal}/work.ts`,
    ["Attempt"],
    [
      {
        name: "a job that waits for a person is not logged",
        find: `Effect.annotateLogs(Effect.logWarning(\`A durable job waits: \${reason}: \${message}\`), { key: attempt.key })`,
        replace: `Effect.asVoid(Effect.succeed([reason, message]))`
      },
      {
        name: "an unknown secret ends a job that is processed",
        find: `        yield* keep(row.value, assemblyId.failure)\n        return "Waiting" as const\n`,
        replace: `        return yield* Effect.fail(assemblyId.failure)\n`
      }
    ]
  ),
  ...changes(
    `${internal}/secretFile.ts`,
    ["Attempt"],
    [
      {
        name: "a line break changes the secret",
        find: `text.trim()`,
        replace: `text`
      },
      {
        name: "an incomplete file of a secret stays in the way",
        find: `  yield* fs.remove(incomplete, { force: true })\n`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/transfer.ts`,
    ["Attempt"],
    [{ name: "an Assembly that exists ends the job", find: `hasStatus(409)`, replace: `hasStatus(999)` }]
  ),
  ...changes(
    `${internal}/jobAtRest.ts`,
    ["Attempt"],
    [{ name: "a key is longer than its column", find: `  Schema.isMaxLength(255),\n`, replace: `` }]
  ),
  ...changes(
    `${internal}/host.ts`,
    ["Attempt"],
    [
      {
        name: "a retention of nothing is accepted",
        find: `retention: Settings.duration(options.retention)`,
        replace: ``
      }
    ]
  ),
  ...changes(
    `${internal}/fileModes.ts`,
    ["Attempt"],
    [{ name: "the files beside a database stay open to others", find: `["-wal", "-shm"]`, replace: `[]` }]
  )
]

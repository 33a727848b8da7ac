import { changes } from "../Mutant.ts"

/** Mutations of the options, the responses and the memory of the routes of `http`. */
export const httpRoutes = [
  ...changes(
    "packages/http/src/Webhooks.ts",
    ["WebhooksOptions"],
    [
      { name: "the number of fields cannot be chosen", find: `options.maxFields ?? 16`, replace: `16` },
      {
        name: "the time of a body cannot be chosen",
        find: `options.receiveTimeout ?? "30 seconds"`,
        replace: `"30 seconds"`
      },
      {
        name: "a body may take a day by default",
        find: `options.receiveTimeout ?? "30 seconds"`,
        replace: `options.receiveTimeout ?? "1 day"`
      },
      {
        name: "bodies together have no limit by default",
        find: `options.maxBufferedBytes ?? 64 * 1024 * 1024`,
        replace: `options.maxBufferedBytes ?? Infinity`
      },
      {
        name: "the time of a handler cannot be chosen",
        find: `options.handleTimeout ?? "5 minutes"`,
        replace: `"5 minutes"`
      },
      {
        name: "what a handler opens is closed with the connection",
        find: `Effect.scoped(options.handle(notification)).pipe(`,
        replace: `options.handle(notification).pipe(`
      },
      {
        name: "a handler that failed is not in the log",
        find: `Effect.tapCause((cause) => Effect.logError("The handler of a notification failed", cause)),`,
        replace: ``
      },
      {
        name: "a store that failed is not in the log",
        find: `Effect.tapError((error) => Effect.logError(error.message)),`,
        replace: ``
      },
      {
        name: "a defect of the store is not in the log",
        find: `Effect.andThen(Effect.logError("A notification failed", defect), Effect.fail(failed))`,
        replace: `Effect.die(defect)`
      },
      {
        name: "the path of notifications cannot be chosen",
        find: `router.add("POST", options.path ?? defaultPath, receive)`,
        replace: `router.add("POST", defaultPath, receive)`
      },
      {
        name: "a form may have room for one field",
        find: `maxFields: Settings.whole(options.maxFields, 2),`,
        replace: ``
      },
      {
        name: "bodies may have no room",
        find: `maxBufferedBytes: Settings.whole(options.maxBufferedBytes, 1),`,
        replace: ``
      },
      {
        name: "a notification may have no time",
        find: `receiveTimeout: Settings.duration(options.receiveTimeout),`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/http/src/HandledNotifications.ts",
    ["HandledNotifications"],
    [
      {
        name: "a notification that is handled again stays the oldest one",
        find: `until.delete(key)
        until.set`,
        replace: `until.set`
      },
      {
        name: "the time of the memory cannot be chosen",
        find: `options?.timeToLive ?? "7 days"`,
        replace: `"7 days"`
      },
      {
        name: "the memory has no limit by default",
        find: `options?.capacity ?? 10_000`,
        replace: `options?.capacity ?? Infinity`
      },
      {
        name: "the memory is small by default",
        find: `options?.capacity ?? 10_000`,
        replace: `options?.capacity ?? 1000`
      },
      {
        name: "one failure of the database ends the forgetting",
        find: `Effect.catch(() => Effect.logWarning("Old notifications could not be deleted")),`,
        replace: ``
      },
      {
        name: "a notification that was just released counts as handled",
        find: `if (row === undefined) return busy`,
        replace: `if (row === undefined) return done`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/body.ts",
    ["SignaturesOptions", "WebhooksOptions"],
    [
      {
        name: "a body that announces exactly its maximum is refused",
        find: `(request.headers["content-length"] ?? 0) > most`,
        replace: `(request.headers["content-length"] ?? 0) >= most`
      },
      {
        name: "a body of exactly its maximum is refused",
        find: `return bytes > most ?`,
        replace: `return bytes >= most ?`
      },
      { name: "a media type with capitals is refused", find: `.trim().toLowerCase() ??`, replace: `.trim() ??` },
      {
        name: "a character between two pieces is broken",
        find: `decoder.decode(chunk, { stream: true })`,
        replace: `decoder.decode(chunk)`
      },
      {
        name: "half a character at the end is dropped",
        find: `return whole + decoder.decode()`,
        replace: `return whole`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/form.ts",
    ["WebhooksOptions"],
    [
      {
        name: "a form has one field more than it may",
        find: `count < most; count++`,
        replace: `count <= most; count++`
      },
      {
        name: "a form has one field less than it may",
        find: `count < most; count++`,
        replace: `count < most - 1; count++`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/origin.ts",
    ["SignaturesOptions"],
    [
      {
        name: "an origin may have a path, and permits no page",
        find: `text === (origin === "null" ? `,
        replace: `text.startsWith(origin === "null" ? `
      },
      {
        name: "an origin that starts like a permitted one may ask",
        find: `origins.includes(origin)`,
        replace: `origins.some((one) => origin.startsWith(one))`
      },
      { name: "a host has small letters only", find: `host.toLowerCase()`, replace: `host` }
    ]
  ),
  ...changes(
    "packages/http/src/internal/respond.ts",
    ["SignaturesOptions"],
    [
      {
        name: "a browser may guess the type of an answer",
        find: `, "x-content-type-options": "nosniff"`,
        replace: ``
      },
      {
        name: "a defect of a policy is not in the log",
        find: `Effect.logError("A route failed", what).pipe(Effect.andThen(HttpServerRespondable.toResponse(failed)))`,
        replace: `HttpServerRespondable.toResponse(failed)`
      }
    ]
  ),
  ...changes(
    "packages/http/src/Refusal.ts",
    ["Refusals"],
    [
      {
        name: "a refusal may be cached",
        find: `headers: { "cache-control": "no-store", ...headers }`,
        replace: `headers`
      },
      ...[400, 401, 409, 413, 415, 429, 500, 502].map((status) => ({
        name: `the body after ${status} is received to its end`,
        find: `answer(this, ${status}, unread)`,
        replace: `answer(this, ${status})`
      })),
      {
        name: "the body after 503 is received to its end",
        find: `{ ...unread, "retry-after": "1" }`,
        replace: `{ "retry-after": "1" }`
      },
      ...[
        { name: "the body of a page of another site is received to its end", tag: "OriginRefused" },
        { name: "the body of a user who may not upload is received to its end", tag: "Forbidden" }
      ].map(({ name, tag }) => {
        const find = `"${tag}", problem, { httpApiStatus: 403 })
  implements HttpServerRespondable.Respondable
{
  override get message() {
    return this.problem
  }
  [HttpServerRespondable.symbol]() {
    return answer(this, 403, unread)`
        return { name, find, replace: find.replace("403, unread", "403") }
      }),
      {
        name: "the document of an application has another status than the answer",
        find: `"BodyTooLarge", problem, { httpApiStatus: 413 }`,
        replace: `"BodyTooLarge", problem, { httpApiStatus: 400 }`
      }
    ]
  ),
  ...changes(
    "packages/http/src/Signatures.ts",
    ["SignaturesOptions"],
    [
      {
        name: "the maximum size of a signature request cannot be chosen",
        find: `options.maxBytes ?? 16 * 1024`,
        replace: `16 * 1024`
      },
      {
        name: "the time limit of a signature request cannot be chosen",
        find: `options.receiveTimeout ?? "10 seconds"`,
        replace: `"10 seconds"`
      },
      {
        name: "questions together have no limit",
        find: `Body.budget(512 * limits.bytes)`,
        replace: `Body.budget(Infinity)`
      },
      {
        name: "the algorithm of a signature is lost in its route",
        find: `Signer.make({ secret, algorithm })`,
        replace: `Signer.make({ secret })`
      },
      {
        name: "Steps beside a Template must be complete",
        find: `params.templateId === undefined ? "whole" : "changes"`,
        replace: `"whole"`
      },
      {
        name: "a blank secret signs",
        find: `Settings.notBlank(Redacted.value(credentials.secret))`,
        replace: `Settings.whole(1, 0)`
      },
      {
        name: "the options of the signatures are not checked",
        find: `if (broken.length > 0) return yield* Effect.die(Settings.defect("Signatures", broken))`,
        replace: ``
      },
      {
        name: "the path of signatures cannot be chosen",
        find: `router.add("POST", options.path ?? defaultPath, answer)`,
        replace: `router.add("POST", defaultPath, answer)`
      }
    ]
  ),
  ...changes(
    "packages/http/src/PassThrough.ts",
    ["PassThroughOptions"],
    [
      { name: "an id of an upload may be guessed", find: `{16,64}`, replace: `{6,64}` },
      {
        name: "an invalid number of an event hides events",
        find: `Number.isSafeInteger(seen) && seen > 0 ? seen : 0`,
        replace: `Number.isNaN(seen) ? 0 : seen`
      },
      {
        name: "a quiet connection is closed by a proxy",
        find: `Stream.merge(keepAlive, { haltStrategy: "left" }),`,
        replace: ``
      },
      {
        name: "a quiet connection gets a comment too rarely",
        find: `Stream.tick("15 seconds")`,
        replace: `Stream.tick("5 minutes")`
      },
      { name: "the events of an upload never end", find: `haltStrategy: "left"`, replace: `haltStrategy: "both"` },
      {
        name: "uploads have no limit by default",
        find: `options.maxUploads ?? 64`,
        replace: `options.maxUploads ?? Infinity`
      },
      {
        name: "watchers have no limit by default",
        find: `options.maxWatchers ?? 1024`,
        replace: `options.maxWatchers ?? Infinity`
      },
      {
        name: "a silent user is waited for by default",
        find: `options.idleTimeout ?? "30 seconds"`,
        replace: `options.idleTimeout ?? "1 hour"`
      },
      {
        name: "an upload may take a day by default",
        find: `duration: options.timeout ?? "1 hour",`,
        replace: `duration: options.timeout ?? "1 day",`
      },
      {
        name: "a completed Assembly is told twice",
        find: `event._tag === "Completed" ? Effect.void : tell(event)`,
        replace: `tell(event)`
      },
      {
        name: "every progress of an upload is told",
        find: `      progressInterval,
      ...(grant.wait`,
        replace: `      ...(grant.wait`
      },
      {
        name: "an answer always waits for the Assembly",
        find: `...(grant.wait === true ? {} : { wait: false as const })`,
        replace: ``
      },
      {
        name: "events may be cached",
        find: `"cache-control": "no-store", "x-accel-buffering": "no"`,
        replace: `"x-accel-buffering": "no"`
      },
      {
        name: "events wait in a proxy",
        find: `"cache-control": "no-store", "x-accel-buffering": "no"`,
        replace: `"cache-control": "no-store"`
      },
      {
        name: "an upload may have no time",
        find: `    timeout: Settings.duration(options.timeout),
`,
        replace: ``
      },
      {
        name: "a silence may have no time",
        find: `idleTimeout: Settings.duration(options.idleTimeout),`,
        replace: ``
      },
      {
        name: "the origins of uploads are not checked",
        find: `...Origin.issues(options.origins ?? [])`,
        replace: `...Origin.issues([])`
      },
      {
        name: "the path of uploads cannot be chosen",
        find: "const path = `${options.path ?? defaultPath}/:uploadId` as const\n      yield*",
        replace: "const path = `${defaultPath}/:uploadId` as const\n      yield*"
      },
      {
        name: "the origins of uploads cannot be chosen",
        find: `const { origins = [], policy } = options`,
        replace: `const { policy } = options
  const origins: ReadonlyArray<string> = []`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/uploadProblem.ts",
    ["PassThroughOptions"],
    [
      {
        name: "an invalid grant is reported as an error of the user",
        find: `.every(({ path }) => path[0] === "files")`,
        replace: `.length > 0`
      },
      {
        name: "a failed upload is not in the log",
        find: "Effect.logError(`An upload of a user failed: ${error.message}`)",
        replace: `Effect.void`
      },
      {
        name: "the error of a failed Assembly is not told",
        find: `error._tag === "AssemblyFailed" ?`,
        replace: `String(error._tag) === "nothing" ?`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/fileForm.ts",
    ["PassThroughOptions"],
    [
      {
        name: "a field before a file has no limit of its own",
        find: `{ bytes: 64 * 1024, fields: 32, time: 0 }`,
        replace: `{ bytes: 64 * 1024 * 1024, fields: 32, time: 0 }`
      },
      {
        name: "fields in the same piece as the file are lost",
        find: `for (const part of parts.slice(0, at)) if (Multipart.isField(part)) fields.push([part.key, part.value])`,
        replace: ``
      },
      {
        name: "fields in another piece than the file are lost",
        find: `for (const part of parts) if (Multipart.isField(part)) fields.push([part.key, part.value])
    parts`,
        replace: `parts`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/watchers.ts",
    ["Watchers"],
    [
      { name: "a late page gets the last event only", find: `const kept = 64`, replace: `const kept = 1` },
      { name: "an upload is forgotten at its end", find: `const remembered = 60_000`, replace: `const remembered = 0` },
      {
        name: "an upload is never forgotten",
        find: `Effect.andThen(Effect.sleep(remembered), forget(id, entry))`,
        replace: `Effect.void`
      },
      {
        name: "an upload without room stays in memory",
        find: `if (entry.watchers === 0) yield* forget(id, entry)`,
        replace: ``
      },
      {
        name: "an upload without room is forgotten for those who watch it",
        find: `if (entry.watchers === 0) yield* forget(id, entry)`,
        replace: `yield* forget(id, entry)`
      },
      { name: "what a page watched stays in memory", find: `found.watchers--`, replace: `void found.watchers` },
      {
        name: "a page that disconnects removes the events of others",
        find: `return found.watchers === 0 && found.state === "announced"`,
        replace: `return found.state === "announced"`
      },
      {
        name: "a page that goes makes a running upload unknown",
        find: `return found.watchers === 0 && found.state === "announced"`,
        replace: `return found.watchers === 0`
      },
      {
        name: "the last event is not sent again to a page that missed it",
        find: `entry.count <= seen`,
        replace: `entry.count <= seen + 1`
      },
      { name: "an event is told twice", find: `number > seen`, replace: `number >= seen` }
    ]
  )
]

import { changes } from "../Mutant.ts"

export const http = [
  ...changes(
    "packages/http/src/Webhooks.ts",
    ["Webhooks"],
    [
      {
        name: "a handler that failed counts as done",
        find: `Exit.isSuccess(exit) ? claim.done : claim.release`,
        replace: `Exit.isSuccess(exit) ? claim.done : claim.done`
      },
      {
        name: "a handler that succeeded is forgotten",
        find: `Exit.isSuccess(exit) ? claim.done : claim.release`,
        replace: `Exit.isSuccess(exit) ? claim.release : claim.release`
      },
      {
        name: "notifications at the same time are handled each",
        find: `running.set(notification.key, result)`,
        replace: `void result`
      },
      {
        name: "a handled notification stays in the table of running ones",
        find: `running.delete(notification.key)`,
        replace: `void running`
      },
      {
        name: "a handler runs in the scope of its request",
        find: `Effect.forkIn(scope),`,
        replace: `Effect.forkChild,`
      },
      {
        name: "a notification is handled before it is verified",
        find: `const status = yield* webhook.verify(`,
        replace: `const status = JSON.parse(transloadit) ?? webhook.verify(`
      },
      {
        name: "a claim ends while its handler runs",
        find: `Effect.raceFirst(handle(notification), renewing(claim.renew))`,
        replace: `handle(notification)`
      },
      {
        name: "a store that hangs keeps the server",
        find: `limited(handled.claim(notification.key, lease))`,
        replace: `handled.claim(notification.key, lease)`
      },
      {
        name: "a handler may run for ever",
        find: `Effect.timeout(handleTimeout),`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/http/src/HandledNotifications.ts",
    ["HandledNotifications"],
    [
      {
        name: "the number of remembered notifications has no limit",
        find: `until.size > capacity && `,
        replace: `until.size < 0 && `
      },
      {
        name: "two writers of an entry overwrite each other",
        find: `.pipe(Semaphore.withPermit(writing))`,
        replace: ``
      },
      {
        name: "a late process releases the claim of another process",
        find: `DELETE FROM \${table} WHERE id = \${key} AND owner = \${owner} AND done = 0`,
        replace: `DELETE FROM \${table} WHERE id = \${key} AND done = 0`
      },
      {
        name: "a process renews the claim of another one",
        find: `SET until_ms = \${until} WHERE id = \${key} AND owner = \${owner} AND done = 0`,
        replace: `SET until_ms = \${until} WHERE id = \${key} AND done = 0`
      },
      {
        name: "a lease never ends",
        find: `DELETE FROM \${table} WHERE id = \${key} AND until_ms <= \${now}`,
        replace: `DELETE FROM \${table} WHERE id = \${key} AND until_ms < 0 AND until_ms <= \${now}`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/body.ts",
    ["WebhooksHostile", "Signatures"],
    [
      {
        name: "a body has no end",
        find: `return bytes > most ? `,
        replace: `return bytes < 0 ? `
      },
      {
        name: "bodies together have no limit",
        find: `if (held + bytes > most) return false`,
        replace: ``
      },
      {
        name: "the memory of a body is not released",
        find: `shared.give(held)`,
        replace: `shared.give(0)`
      },
      {
        name: "a body may take for ever",
        find: `inTime(limits.time)(read(body))`,
        replace: `read(body)`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/form.ts",
    ["WebhooksHostile"],
    [
      {
        name: "fields of a urlencoded form have no limit",
        find: `if (hasMore(text, limits.fields)) return yield* tooMany(limits)`,
        replace: ``
      },
      {
        name: "the second of two equal fields is used",
        find: `if (found[wanted] !== undefined) {`,
        replace: `if (found[wanted] === "") {`
      },
      {
        name: "parts of a multipart form have no limit",
        find: `maxParts: limits.fields, `,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/http/src/Signatures.ts",
    ["Signatures"],
    [
      {
        name: "a page is not told which field of its body is wrong",
        find: `first === undefined || first.path.length === 0`,
        replace: `first !== undefined`
      },
      {
        name: "the time of a signature has no limit",
        find: `Duration.isGreaterThan(Duration.fromInputUnsafe(expiresIn), longest)`,
        replace: `longest === undefined`
      },
      {
        name: "the grant of the policy is not checked",
        find: `yield* checkGrant(grant)`,
        replace: `void checkGrant`
      },
      {
        name: "pages of other sites may request a signature",
        find: `yield* Origin.check(request, origins)`,
        replace: `void Origin.check(request, origins)`
      },
      {
        name: "the maximum size is not signed",
        find: `{ max_size: grant.maxSize }`,
        replace: `{}`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/origin.ts",
    ["Signatures"],
    [
      {
        name: "another site counts as the same",
        find: `site === "same-origin" || site === "none"`,
        replace: `site !== ""`
      },
      {
        name: "the host is not compared",
        find: `new URL(origin).host === host.toLowerCase()`,
        replace: `new URL(origin).host !== ""`
      }
    ]
  ),
  ...changes(
    "packages/http/src/PassThrough.ts",
    ["PassThrough"],
    [
      {
        name: "the OpenAPI document permits no field beside the file",
        find: `options?.fields === undefined ? withAnyField(form) : form`,
        replace: `form`,
        tests: ["OpenApi"]
      },
      {
        name: "the Assembly of a user who went away waits for ever",
        find: `cancelOnInterrupt: true,`,
        replace: ``
      },
      {
        name: "a form may take for ever before its file",
        find: `duration: options.receiveTimeout ?? "10 seconds"`,
        replace: `duration: "1 hour"`
      },
      {
        name: "an upload may take for ever",
        find: `duration: options.timeout ?? "1 hour",`,
        replace: `duration: "1 hour",`
      },
      {
        name: "an announced size is not compared",
        find: `if (FileForm.announcesMore(request, grant.maxBytes)) {`,
        replace: `if (FileForm.announcesMore(request, Infinity)) {`
      },
      {
        name: "the user is told that a file name of the policy is invalid",
        find: `UploadProblem.of(error, grant.filename === undefined)`,
        replace: `UploadProblem.of(error, true)`,
        tests: ["PassThroughHostile"]
      },
      {
        name: "the user gets the error of the upload instead of the error of the body",
        find: `problem === undefined ? UploadProblem.of(error, grant.filename === undefined) : Effect.fail(problem)`,
        replace: `problem === null ? Effect.fail(problem) : UploadProblem.of(error, grant.filename === undefined)`
      },
      {
        name: "a page that got the end does not stop connecting",
        find: `if (uploads.hasSeen(uploadId, seen)) return`,
        replace: `if (seen < 0) return`
      },
      {
        name: "events have capabilities",
        find: `const encodeEvent = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(Event)))`,
        replace: `const encodeEvent = (event: unknown) => Effect.sync(() => JSON.stringify(event, (_, one) => typeof one === "bigint" ? String(one) : one))`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/fileForm.ts",
    ["PassThrough"],
    [
      {
        name: "a body that is cut off becomes a complete file",
        find: `Stream.concat(Stream.drain(Stream.fromEffect(end)))`,
        replace: `Stream.tap(() => Effect.succeed(end))`
      },
      {
        name: "a file has no maximum size",
        find: `return bytes > maxBytes`,
        replace: `return bytes < 0`
      },
      {
        name: "a connection without bytes stays open",
        find: `duration: idleTimeout,`,
        replace: `duration: "1 hour",`
      },
      {
        name: "the form fields next to the file have no limit",
        find: `return bytes > room()`,
        replace: `return bytes < 0`
      },
      {
        name: "the second of two fields of an upload counts",
        find: `if (twice !== undefined) return yield* malformed`,
        replace: `if (false) return yield* malformed`
      },
      {
        name: "a second small file is dropped",
        find: `const problem = afterFile(parts.slice(at + 1))`,
        replace: `const problem = afterFile([])`
      },
      {
        name: "a field after the file is dropped",
        find: `const field = parts.find(Multipart.isField)`,
        replace: `const field = undefined as Multipart.Field | undefined`
      }
    ]
  ),
  ...changes(
    "packages/http/src/internal/watchers.ts",
    ["PassThrough"],
    [
      {
        name: "uploads have no limit",
        find: `if (running >= limits.uploads) {`,
        replace: `if (running < 0) {`
      },
      {
        name: "watchers have no limit",
        find: `if (watching >= limits.watchers) {`,
        replace: `if (watching < 0) {`
      },
      {
        name: "an id is used twice",
        find: `if (entry.state !== "announced") {`,
        replace: `if (entry.state === "ended") {`
      },
      {
        name: "the ends of uploads have no limit",
        find: `ended.size > limits.uploads + limits.watchers`,
        replace: `ended.size > 1e9`
      },
      {
        name: "an upload without room keeps its id",
        find: `yield* forget(id, entry)
        return yield* new Refusal.Busy({ problem: "Too many uploads are running." })`,
        replace: `return yield* new Refusal.Busy({ problem: "Too many uploads are running." })`
      },
      {
        name: "an upload that ended counts as running",
        find: `running--`,
        replace: `void running`
      }
    ]
  )
]

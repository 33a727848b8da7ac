import { changes } from "../Mutant.ts"

/** Mutations of the code that downloads and saves results. */
export const results = [
  ...changes(
    "packages/api/src/internal/results/representation.ts",
    ["ResultAnswers"],
    [
      {
        name: "a date proves that the bytes are the same, without the time of the response",
        find: `date !== undefined && Date.parse(date)`,
        replace: `Date.parse(date ?? "2099-01-01")`
      },
      {
        name: "a Content-Length may contradict its Content-Range",
        find: `if (length !== undefined && length !== end + 1 - start) {`,
        replace: `if (length === -1) {`
      },
      {
        name: "a file with another date is compared to its end",
        find: `if (areDifferent(before.lastModified, now.lastModified)) return "last-modified"`,
        replace: ``
      },
      {
        name: "a refused range tells no size",
        find: `toLength(/^bytes \\*\\/(\\d+)$/i.exec`,
        replace: `toLength(/^bytes \\*\\/(\\d)$/i.exec`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/download.ts",
    ["ResultAnswers"],
    [
      {
        name: "a range has no condition",
        find: `validator === undefined ? range : { ...range, "if-range": validator }`,
        replace: `range`
      },
      {
        name: "a file that shrank is a broken response",
        find: `if (seen?.total !== undefined && seen.total !== size) return changed(job, subject, "length")`,
        replace: ``
      },
      {
        name: "a file that is smaller than its Status is a broken response",
        find: `if (job.size !== undefined && job.size !== size) return mismatch(job, subject, "size", job.size, size)`,
        replace: ``
      },
      {
        name: "a refused response holds its connection",
        find: `    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
`,
        replace: `    Scope.provide(scope)
`
      },
      {
        name: "a complete file fails with its connection",
        find: `!Cause.isDone(error) && state.received === state.total && attempt.skip === 0`,
        replace: `!Cause.isDone(error) && state.received < 0`
      },
      {
        name: "a stalled response holds its connection",
        find: `if (state.attempt !== undefined) yield* state.attempt.close`,
        replace: ``
      },
      {
        name: "the policy does not know the pause that the server asked for",
        find: `failures, error, wait })`,
        replace: `failures, error, wait: Option.none() })`
      },
      { name: "a download does not pause", find: `yield* Effect.sleep(pause.value)`, replace: `` },
      {
        name: "the span of a download does not name its server",
        find: `yield* Effect.annotateCurrentSpan(Telemetry.serverOf(job.url))`,
        replace: ``
      },
      {
        name: "the retries of a download are not counted",
        find: `yield* Telemetry.retried(job.operation, { error, failures, pause: Duration.toMillis(pause.value) })`,
        replace: ``
      },
      {
        name: "a name of any length is in an error",
        find: `    max: 100
`,
        replace: `    max: 100_000
`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/request.ts",
    ["ResultAnswers"],
    [
      { name: "one redirect too many", find: `redirects === maxRedirects`, replace: `redirects > maxRedirects` },
      {
        name: "a redirect holds its connection",
        find: `    yield* Scope.close(scope, Exit.void)
`,
        replace: ``
      },
      {
        name: "a response without content is an empty file",
        find: `if (status === 200 || status === 206 ||`,
        replace: `if (status === 200 || status === 204 || status === 206 ||`
      },
      {
        name: "an error names the host before the redirect",
        find: `host: url.host }`,
        replace: `host: options.url.host }`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/resultUrl.ts",
    ["ResultAnswers"],
    [
      {
        name: "url counts before ssl_url",
        find: `const field = hasText(ssl_url) ?`,
        replace: `const field = !hasText(url) ?`
      },
      { name: "a permanent redirect is no redirect", find: `307, 308]`, replace: `307]` },
      { name: "a redirect to another resource is no redirect", find: `302, 303,`, replace: `302,` }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/save.ts",
    ["ResultSave"],
    [
      {
        name: "a file is renamed before it is on the disk",
        find: `yield* Effect.mapError(handle.sync, failed(path))`,
        replace: ``
      },
      { name: "the name of a file is not on the disk", find: `yield* syncFolder(fs, folder)`, replace: `` },
      { name: "a file of someone else is written to", find: `flag: "wx"`, replace: `flag: "w"` },
      ...["EDQUOT", "EROFS", "ENOTDIR", "EACCES"].map((code) => ({
        name: `${code} is any failure`,
        find: `["${code}",`,
        replace: `["${code}0",`
      })),
      {
        name: "the MD5 of a saved file is empty",
        find: `{ ...options, sums: true }`,
        replace: `{ ...options, sums: false }`
      },
      { name: "a new file is private", find: `mode ?? 0o666`, replace: `mode ?? 0o600` },
      { name: "a result runs as the owner of the file before it", find: `mode & 0o777`, replace: `mode & 0o7777` }
    ]
  ),
  ...changes(
    "packages/api/src/unstable/Md5.ts",
    ["ResultAnswers"],
    [
      { name: "an MD5 in capitals is another one", find: `.toLowerCase() : undefined`, replace: ` : undefined` },
      { name: "any text is an MD5", find: `/^[a-f0-9]{32}$/i.test(md5hash)`, replace: `md5hash !== ""` }
    ]
  )
]

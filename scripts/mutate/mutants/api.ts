import { changes } from "../Mutant.ts"

export const api = [
  ...["authKeys/remove.ts", "dam/deleteMany.ts", "dam/moveEntry.ts", "templates/update.ts"].flatMap((file) =>
    changes(
      `packages/api/src/internal/${file}`,
      ["/Scopes"],
      [{ name: "a change needs only the scope to read", find: `:write",`, replace: `:read",` }]
    )
  ),
  ...changes(
    "packages/api/src/internal/confidential.ts",
    ["Confidential"],
    [{ name: "a short secret is in an error", find: `const minLength = 4`, replace: `const minLength = 5` }]
  ),
  ...changes(
    "packages/api/src/internal/results/download.ts",
    ["Results"],
    [
      {
        name: "an ETag is compared with that of another URL",
        find: `isRedirected ? Headers.removeMany(response.headers, ["etag", "last-modified"]) : response.headers`,
        replace: `response.headers`
      },
      {
        name: "an invalid size in the Status is not refused",
        find: `...optionIssues(options), ...statusIssues(file)`,
        replace: `...optionIssues(options)`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/download.ts",
    ["Results", "ResultCuts"],
    [
      {
        name: "a range is requested without an ETag, a date or an MD5",
        find: `if (received === 0 || (validator === undefined && md5hash === undefined)) return base`,
        replace: `if (received === 0) return base`
      },
      {
        name: "the bytes that a server repeats are emitted again",
        find: `const piece = whole.subarray(old.length)`,
        replace: `const piece = whole`
      },
      {
        name: "the bytes that a server repeats are not compared",
        find: `attempt.skip === 0 && attempt.skipped?.hex() !== state.sum?.hex()`,
        replace: `attempt.skip < 0 && attempt.skipped?.hex() !== state.sum?.hex()`
      },
      {
        name: "the bytes of two versions of a file are combined",
        find: `if (field !== undefined) return yield* Effect.fail(changed(job, subject, field))`,
        replace: `if (String(field) === "nothing") return yield* Effect.fail(changed(job, subject, "etag"))`
      },
      {
        name: "more bytes than announced are emitted",
        find: `state.received + piece.length > (state.total ?? 0)`,
        replace: `state.received + piece.length > Infinity`
      },
      {
        name: "a part brings more bytes than its Content-Range",
        find: `|| (attempt.left ?? 0) < 0`,
        replace: ``
      },
      {
        name: "an MD5 that differs from the Status is accepted",
        find: `actual === undefined || md5hash === actual`,
        replace: `actual === undefined || md5hash !== ""`
      },
      {
        name: "a body that ends too early is complete",
        find: `return left === 0 ? Effect.void`,
        replace: `return left !== 0 ? Effect.sync(() => void (state.isDone = true))`
      },
      {
        name: "new bytes do not reset the count of failures",
        find: `      failures = 0
      next`,
        replace: `      next`
      },
      {
        name: "a remote service may return an http URL on loopback",
        find: `origins.entries.some((origin) => origin.startsWith("http:"))`,
        replace: `origins.entries.some((origin) => origin.startsWith("http"))`
      },
      {
        name: "a body without progress is waited for forever",
        find: `        Request.inTime(subject, stallTimeout)
      ),`,
        replace: `      ),`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/representation.ts",
    ["Results", "ResultCuts"],
    [
      {
        name: "a weak ETag proves that the bytes are the same",
        find: `etag?.startsWith('"') === true`,
        replace: `etag !== undefined`
      },
      {
        name: "a range with another start is accepted",
        find: `if (start !== from) return`,
        replace: `if (start < 0) return`
      },
      {
        name: "an encoded body is accepted",
        find: `coding.trim().toLowerCase() !== "identity"`,
        replace: `coding.trim().toLowerCase() === ""`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/resultUrl.ts",
    ["Results"],
    [
      {
        name: "a file without a URL counts as downloadable",
        find: `typeof text === "string" && text !== ""`,
        replace: `typeof text === "string"`
      },
      {
        name: "a redirect leads from https to http",
        find: `parse(new URL(location, from).href, from.protocol === "http:")`,
        replace: `parse(new URL(location, from).href, true)`,
        tests: ["ResultUrl"]
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/save.ts",
    ["ResultSave"],
    [
      {
        name: "the temporary file stays after a failure",
        find: `Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))`,
        replace: `Effect.onError(() => Effect.void)`
      },
      {
        name: "a download replaces a socket",
        find: `type === "File"`,
        replace: `type !== "Directory"`
      },
      {
        name: "a file loses its permissions",
        find: `if (mode !== undefined) yield*`,
        replace: `if (options.mode !== undefined) yield*`
      }
    ]
  ),
  ...changes(
    "packages/api/src/RetryPolicy.ts",
    ["RetryPolicy", "TransportFailure"],
    [
      {
        name: "a permanent failure is retried",
        find: ` || error.permanent === true) return false`,
        replace: `) return false`
      },
      {
        name: "an operation that is safe to repeat is retried after any failure",
        find: `if (retry !== "safe" || Repeatable.didNothing(error)) return true`,
        replace: `if (retry === "safe" || Repeatable.didNothing(error)) return true`
      },
      {
        name: "a Retry-After has no maximum",
        find: `Option.isSome(wait) && Duration.toMillis(wait.value) > maxWait`,
        replace: `Option.isSome(wait) && Duration.toMillis(wait.value) > maxWait * 1e9`
      },
      {
        name: "the Retry-After of the service is ignored",
        find: `Duration.millis(Duration.toMillis(wait.value) + pause * chance)`,
        replace: `Duration.millis(pause * chance)`
      },
      {
        name: "the pause is not doubled",
        find: `Math.min(base * 2 ** Math.min(failures - 1, 30), maxPause)`,
        replace: `Math.min(base, maxPause)`
      },
      {
        name: "an operation is retried once too often",
        find: `failures > retries ||`,
        replace: `failures > retries + 1 ||`
      },
      {
        name: "a Schedule ignores the Retry-After of the response",
        find: `onSome: Duration.max(pause)`,
        replace: `onSome: () => pause`,
        tests: ["PerCall"]
      },
      {
        name: "a Schedule retries a request that may not be repeated",
        find: `if (isTooLong(failure, maxWait) || !isRetryable(failure)) return Effect.succeedNone`,
        replace: `if (isTooLong(failure, maxWait)) return Effect.succeedNone`,
        tests: ["PerCall"]
      }
    ]
  ),
  ...changes(
    "packages/api/src/AssemblyClient.ts",
    ["RetryPolicy", "/Guard.test"],
    [
      {
        name: "the policy of a call is ignored",
        find: `(yield* RetryPolicy.RetryPolicy) ?? builtIn.policy ?? RetryPolicy.standard`,
        replace: `builtIn.policy ?? (yield* RetryPolicy.RetryPolicy) ?? RetryPolicy.standard`
      },
      {
        name: "the timeout of a call is ignored",
        find: `(said.timeout === undefined ? undefined : {`,
        replace: `(said.timeout !== undefined ? undefined : {`,
        tests: ["PerCall"]
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/clockSkew.ts",
    ["AssemblyClient"],
    [
      {
        name: "the correction of the clock has no maximum",
        find: `isExpired(error) && Math.abs(error.clockSkew) <= max ?`,
        replace: `isExpired(error) ?`
      },
      {
        name: "a wrong correction of the clock is kept",
        find: `if (Math.abs(told.value - used) <= tolerance)`,
        replace: `if (Math.abs(told.value - used) >= 0)`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/attempt.ts",
    ["/Guard.test"],
    [
      {
        name: "the wait for a permit is part of the request",
        find: `const waited = yield* admit(encoded, conditions)`,
        replace: `const waited = yield* admit(encoded, conditions).pipe(
      inTime(encoded.subject, conditions, conditions.requestTimeout)
    )`
      },
      {
        name: "a request is signed before it waits for a permit",
        find: `return Duration.isZero(waited) ? proof : yield* authenticate(encoded, conditions)`,
        replace: `return Duration.toMillis(waited) >= 0 ? proof : yield* authenticate(encoded, conditions)`
      }
    ]
  ),
  ...changes(
    "packages/api/src/Guard.ts",
    ["/Guard.test"],
    [
      {
        name: "two limiters share a counter",
        find: `Layer.fresh(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)))`,
        replace: `RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/lanes.ts",
    ["/Guard.test"],
    [
      {
        name: "the pause after a 429 has no maximum",
        find: `const retryAfter = Duration.min(wait, options.maxPause)`,
        replace: `const retryAfter = wait`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/response.ts",
    ["Lifecycle", "OperationsOverHttp", "BrokenErrors"],
    [
      {
        name: "the Status of another Assembly is accepted",
        find: `if (Assembly.isOfAnother(body, assemblyId)) {`,
        replace: `if (Assembly.isOfAnother(body, assemblyId) && answered.operation.name === "") {`
      },
      {
        name: "an error contains the id of another Assembly",
        find: `const assemblyId = subject.assemblyId ?? Option.getOrUndefined(decodeAssemblyId(error.assembly_id))`,
        replace: `const assemblyId = error.assembly_id ?? subject.assemblyId`
      },
      {
        name: "a 429 is the error of a failed Assembly",
        find: `return status !== 429 && status < 500 && !isAboutRequest(code) &&`,
        replace: `return status < 500 &&`
      },
      {
        name: "a code such as toString is a named error",
        find: `Object.hasOwn(operation.errors, details.code) ? operation.errors[details.code] : undefined`,
        replace: `operation.errors[details.code]`,
        tests: ["HostileAnswers"]
      },
      {
        name: "a 429 with an invalid body is not RateLimited",
        find: `answered.response.status === 429`,
        replace: `answered.response.status === 430`
      },
      {
        name: "the text of an error is not redacted",
        find: `explanation: Redaction.text(error.message ?? error.error ?? "", { secrets }),`,
        replace: `explanation: error.message ?? error.error ?? "",`,
        tests: ["ServerText", "Proofs", "BrokenErrors"]
      },
      {
        name: "an excerpt is not redacted",
        find: `undefined ? Redaction.excerpt(text, secrets) : ""`,
        replace: `undefined ? text.slice(0, 200) : ""`,
        tests: ["ServerText", "Proofs", "BrokenErrors"]
      },
      {
        name: "a redirect is accepted as a response",
        find: `if (AuthTransport.isRedirect(response.status)) {`,
        replace: `if (response.status === 0) {`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/body.ts",
    ["BrokenErrors"],
    [
      {
        name: "a broken body hides the status of an error",
        find: `AuthTransport.isSuccess(response.status)
    ?`,
        replace: `response.status > 0
    ?`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/lost.ts",
    ["Lifecycle", "/Guard.test"],
    [
      {
        name: "a request that was not sent counts as sent",
        find: `return sent !== "no"`,
        replace: `return sent !== "never"`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/assemblies/create.ts",
    ["Lifecycle"],
    [
      {
        name: "a lost creation is not looked for",
        find: `(error) => Effect.mapError(get(assemblyId), () => error)`,
        replace: `(error) => Effect.fail(error)`
      },
      {
        name: "an id of the caller that is in use counts as ours",
        find: `Lost.isLost(error) && (isOurId || !("status" in error) || error.status !== 409)`,
        replace: `Lost.isLost(error) || isOurId`
      },
      {
        name: "a creation is repeated",
        find: `retry: []`,
        replace: `retry: "safe"`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/assemblies/cancel.ts",
    ["Lifecycle"],
    [
      {
        name: "a DELETE is repeated before the Status is requested",
        find: `retry: []`,
        replace: `retry: "safe"`
      },
      {
        name: "after a 404 to a DELETE, the Status is not requested",
        find: `(error.status === 404 || error.status === 410)`,
        replace: `error.status === 410`
      },
      {
        name: "a lost DELETE is not repeated while the Assembly runs",
        find: `if (first.lost === undefined || Assembly.isOver(first.answer)) return first.answer`,
        replace: `if (first.answer !== undefined) return first.answer`
      },
      {
        name: "a DELETE is sent to the URL of another Assembly",
        find: `ServiceOrigins.assemblyIdAt(Redacted.value(url)) === assemblyId`,
        replace: `Redacted.value(url) !== assemblyId`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/completion.ts",
    ["Lifecycle"],
    [
      {
        name: "the wait for the end accepts any Retry-After",
        find: `error instanceof ApiError.RateLimited && Duration.isLessThanOrEqualTo(error.retryAfter, maxWait)`,
        replace: `error instanceof ApiError.RateLimited`
      },
      {
        name: "an unknown state is a failure",
        find: `case "Unknown":
      return Option.none()`,
        replace: `return Option.none()
    case "Unknown":
      return Option.some(Result.fail(new ApiError.AssemblyFailed(details)))`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/watch.ts",
    ["Watch"],
    [
      {
        name: "the events of another Assembly are accepted",
        find: `strange ||= isOfAnother(event.data, assemblyId)`,
        replace: `strange ||= isOfAnother(event.data, "") && assemblyId === ""`
      },
      {
        name: "the pause between connections is not reset after an event",
        find: `const connection = eventful ? 0 : fruitless`,
        replace: `const connection = eventful ? fruitless : fruitless`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/lookback.ts",
    ["AssemblyClient"],
    [
      {
        name: "statistics look back too far",
        find: `const limit = 91 * 24`,
        replace: `const limit = 92 * 24`
      }
    ]
  ),
  ...changes(
    "packages/api/src/unstable/Transport.ts",
    ["ApiError"],
    [
      {
        name: "the id of a request is not redacted",
        find: `{ requestId: Redaction.code(requestId, secrets) }`,
        replace: `{ requestId }`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/response.ts",
    ["ServerText"],
    [
      {
        name: "a key in a response with a token is not redacted",
        find: `problem: Redaction.text(problem, { secrets })`,
        replace: `problem`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/body.ts",
    ["ServerText"],
    [
      {
        name: "the excerpt of a body that is too large is not redacted",
        find: `excerpt: excerptOf(lenient.decode(error.start.subarray(0, excerptBytes)))`,
        replace: `excerpt: lenient.decode(error.start.subarray(0, 200))`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/completion.ts",
    ["ServerText"],
    [{ name: "the error code of an Assembly is not redacted", find: `code: Redaction.code(code)`, replace: `code` }]
  ),
  ...changes(
    "packages/api/src/internal/response.ts",
    ["Confidential"],
    [
      {
        name: "an excerpt repeats a response with secrets",
        find: `operation.confidential === undefined ? Redaction`,
        replace: `operation !== undefined ? Redaction`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/attempt.ts",
    ["Confidential"],
    [
      {
        name: "an error repeats the secrets of a request",
        find: `secrets: [...encoded.secrets, ...Request.secretsOf(proof)]`,
        replace: `secrets: Request.secretsOf(proof)`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/request.ts",
    ["GeneratedRequests", "OperationsOverHttp"],
    [
      {
        name: "a variable of a path is not encoded",
        find: `encodeURIComponent(variables[name] ?? "")`,
        replace: `variables[name] ?? ""`
      },
      {
        name: "the error about an invalid id does not name the field",
        find: `[name, encodeInput(schema, name)] as const`,
        replace: `[name, encodeInput(schema)] as const`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/steps.ts",
    ["Instructions"],
    [
      {
        name: "Steps that change a Template must be complete",
        find: `templateId === undefined ? "whole" : "changes"`,
        replace: `templateId === undefined ? "whole" : "whole"`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/pages.ts",
    ["Cursor"],
    [
      {
        name: "a cursor that names its own page never ends",
        find: `cursor !== null && cursor === at.cursor`,
        replace: `cursor !== null && cursor === at`
      },
      {
        name: "the last page is followed",
        find: `cursor === null ? undefined : { ...at, cursor }`,
        replace: `cursor === null ? at : { ...at, cursor }`
      }
    ]
  ),
  ...changes(
    "packages/auth/src/internal/sendGuard.ts",
    ["SendGuard"],
    [
      {
        name: "a refused request is sent at the second try",
        find: `refusal ?? objection(leaving)`,
        replace: `objection(leaving)`,
        project: "api"
      },
      {
        name: "a client can replace a raw body",
        find: `leaving._tag === "Raw" && leaving.body === given.body`,
        replace: `leaving._tag === "Raw"`,
        project: "api"
      },
      {
        name: "a client can replace bytes by a stream",
        find: `if (leaving._tag !== "Stream") return false`,
        replace: `if (leaving._tag !== "Stream") return true`,
        project: "api"
      },
      {
        name: "a body that was refused before it was sent counts as sent",
        find: `new Lost({ ...other.changed, sent: "no" })`,
        replace: `other.changed`,
        project: "api"
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/repeatable.ts",
    ["RetryPolicy"],
    [
      {
        name: "an operation with retry: never is repeated",
        find: `if (retry === "never") return false`,
        replace: `if (String(retry) === "nothing") return false`
      },
      {
        name: "an upload that resumes is not repeated",
        find: `retry === "safe" || retry === "resumes" || didNothing(error)`,
        replace: `retry === "safe" || didNothing(error)`
      },
      {
        name: "an operation that changes something is repeated after any failure with a code",
        find: `error.code !== undefined && retry.includes(error.code)`,
        replace: `error.code !== undefined`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/persist.ts",
    ["RetryPolicy"],
    [
      {
        name: "a policy of the program repeats a request that may have been received",
        find: `if (!Repeatable.isRepeatable({ error, retry })) return Option.none<number>()`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/download.ts",
    ["ResultAnswers"],
    [
      {
        name: "a response without the date of the file continues a download",
        find: `const isCompared = answer.part.start === 0 && sum !== undefined`,
        replace: `const isCompared = answer.part.start === 0`
      },
      {
        name: "the range of a redirect continues a download that only a date identifies",
        find: `answer.status === 206 && !answer.isRedirected`,
        replace: `answer.status === 206`
      },
      {
        name: "a download that its MD5 proves is refused without a date",
        find: ` || job.md5hash !== undefined) return false`,
        replace: `) return false`
      }
    ]
  ),
  ...changes(
    "packages/api/src/internal/results/save.ts",
    ["ResultSave"],
    [
      {
        name: "a file with a given mode replaces whatever is at its path",
        find: `const existing = yield* existingMode(fs, path)`,
        replace: `const existing = options.mode ?? (yield* existingMode(fs, path))`
      }
    ]
  )
]

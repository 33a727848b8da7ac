/**
 * Gives mutated responses to all code that reads a response, and counts the outcomes. An outcome that is neither a
 * value nor a typed error ends the run, and the message contains the seed that reproduces it.
 */
import { Cause, Clock, Data, Effect, Exit, Random, References, Result, Stream } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Idle from "../../time/Idle.ts"
import { Draw } from "./Draw.ts"
import * as Mutation from "./Mutation.ts"
import * as Service from "./Service.ts"
import type { Failure, Subject } from "./Subjects.ts"
import * as VirtualClock from "./VirtualClock.ts"

/** An outcome that must not happen. */
export class Finding extends Data.TaggedError("Finding")<{
  readonly subject: string
  readonly seed: number
  readonly description: string
}> {
  override get message() {
    return `${this.subject}, seed ${this.seed}: ${this.description}`
  }
}

/** The number of each outcome, by the names of the subjects. */
export type Counts = Map<string, Map<string, number>>

export interface Report {
  readonly counts: Counts
  /** The number of mutated responses that were read. */
  readonly answers: number
  readonly runs: number
  /** The duration of the longest run, in milliseconds of this machine. */
  readonly slowest: number
}

/** The maximum number of requests in one run. */
const mostRequests = 400

/** The maximum duration of a run on any machine, in milliseconds. */
const mostMillis = 20_000

/** The maximum length of an error message in characters: at most 1,000 of the server, and the text around it. */
const mostMessage = 4 * 1024

const sizeOf = ({ body }: HttpClientRequest.HttpClientRequest): Effect.Effect<number> => {
  switch (body._tag) {
    case "Uint8Array":
      return Effect.succeed(body.body.length)
    case "Stream":
      return Stream.runFold(
        body.stream,
        () => 0,
        (sum: number, piece) => sum + piece.length
      ).pipe(Effect.orElseSucceed(() => 0))
    default:
      return Effect.succeed("contentLength" in body ? (body.contentLength ?? 0) : 0)
  }
}

const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** The body as it arrives: complete, in two pieces, cut, or without an end. */
const deliver = (draw: Draw, body: Uint8Array): BodyInit => {
  const way = draw.next()
  if (way < 0.85) return body as BufferSource
  const half = body.slice(0, body.length / 2)
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(half)
      if (way < 0.93) {
        controller.enqueue(body.slice(half.length))
        controller.close()
      } else if (way < 0.97) controller.error(new TypeError("terminated"))
    }
  })
}

const toResponse = (draw: Draw, { body, headers, status }: Mutation.Answer, isHead: boolean): Response =>
  new Response(isHead || bodiless.has(status) ? null : deliver(draw, body), {
    status,
    headers: Object.entries(headers).map(([name, value]) => [name, value.trim()] as [string, string])
  })

/** A service in memory. Most of its responses are mutated, and some are lost. */
const makeClient = (draw: Draw, baseUrl: string, count: () => void) => {
  const answer = Service.make(baseUrl)
  let requests = 0
  const http = HttpClient.make((request, url) =>
    Effect.gen(function* () {
      requests++
      if (requests > mostRequests) return yield* Effect.die(new Error(`more than ${mostRequests} requests`))
      const bytes = yield* sizeOf(request)
      const right = answer({ method: request.method, path: url.pathname, headers: request.headers, bytes })
      if (draw.chance(0.03)) {
        return yield* new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) })
      }
      if (draw.chance(0.01)) return yield* Effect.never
      const isMutated = draw.chance(0.75)
      if (isMutated) count()
      const sent = isMutated ? Mutation.mutate(draw, right) : right
      return HttpClientResponse.fromWeb(request, toResponse(draw, sent, request.method === "HEAD"))
    })
  )
  return http
}

const baseUrl = "https://api2.example.com"
const start = Date.UTC(2026, 10, 21)

/** The reason why a program cannot handle an error. */
const fault = (error: Failure): string | undefined => {
  if (typeof error._tag !== "string" || typeof error.message !== "string") return "an error without a tag or a message"
  if (error.message.length > mostMessage) return `a message of ${error.message.length} characters`
  try {
    void [String(error), JSON.stringify(error)]
    return undefined
  } catch (problem) {
    return `${error._tag} cannot be printed: ${String(problem)}`
  }
}

/** The outcome of a run, or a `Finding` if this outcome is not permitted. */
export const outcomeOf = (exit: Exit.Exit<unknown, Failure>): Result.Result<string, string> => {
  if (Exit.isSuccess(exit)) return Result.succeed("a value")
  const found = Cause.findError(exit.cause)
  if (Result.isFailure(found) || Cause.hasDies(exit.cause)) return Result.fail(Cause.pretty(exit.cause))
  const problem = fault(found.success)
  return problem === undefined ? Result.succeed(found.success._tag) : Result.fail(problem)
}

/** Fails if a run does not end in time. */
export const inTime = <A>(run: Promise<A>, subject: string, seed: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new Finding({ subject, seed, description: `no end after ${mostMillis} ms` }))
    const timer = setTimeout(late, mostMillis)
    run.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/** Runs one subject once in memory. Returns the number of mutated responses that it read. */
export const one = async (
  subject: Subject,
  seed: number
): Promise<{ readonly outcome: string; readonly answers: number }> => {
  const draw = new Draw(seed)
  let answers = 0
  const count = () => void answers++
  const idle = Idle.make()
  const run = subject
    .run(baseUrl, draw, count)
    .pipe(
      Effect.provideService(HttpClient.HttpClient, makeClient(draw, baseUrl, count)),
      Effect.provideService(Clock.Clock, VirtualClock.make(start, idle)),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Random.withSeed(seed),
      idle.within
    )
  const outcome = outcomeOf(await inTime(Effect.runPromiseExit(run), subject.name, seed))
  if (Result.isFailure(outcome)) throw new Finding({ subject: subject.name, seed, description: outcome.failure })
  return { outcome: outcome.success, answers }
}

export interface Options {
  readonly subjects: ReadonlyArray<Subject>
  readonly seed: number
  /** The number of mutated responses after which no run begins. */
  readonly answers: number
}

/** Runs the subjects in turn, several at the same time. */
export const drive = async (
  { answers: most, seed, subjects }: Options,
  concurrency: number,
  run: (subject: Subject, seed: number, turn: number) => Promise<{ readonly outcome: string; readonly answers: number }>
): Promise<Report> => {
  const counts: Counts = new Map()
  let answers = 0
  let runs = 0
  let slowest = 0
  const worker = async (): Promise<void> => {
    // Each subject has the same number of turns.
    while (answers < most || runs % subjects.length !== 0) {
      const index = runs++
      const subject = subjects[index % subjects.length]
      if (subject === undefined) return
      const begun = performance.now()
      const result = await run(subject, seed + index, Math.floor(index / subjects.length))
      slowest = Math.max(slowest, performance.now() - begun)
      const own = counts.get(subject.name) ?? new Map<string, number>()
      counts.set(subject.name, own.set(result.outcome, (own.get(result.outcome) ?? 0) + 1))
      answers += result.answers
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { counts, answers, runs, slowest }
}

/** Runs all subjects in memory until the given number of mutated responses was read. */
export const run = (options: Options): Promise<Report> => drive(options, 1, one)

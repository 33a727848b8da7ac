/** Sends almost valid requests to all routes in turn. The seed decides the requests. */
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { exchange, learn, wrong } from "./Exchange.ts"
import { spoil, toBytes } from "./Request.ts"
import { routes, type World } from "./Routes.ts"

interface Failure {
  readonly number: number
  readonly route: string
  readonly description: string
  readonly sent: Buffer
}

export interface Outcome {
  /** The number of responses of each route by status: `route` → status → count. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly failures: ReadonlyArray<Failure>
}

export interface Options {
  readonly count: number
  readonly seed: string
  /** The number of concurrent requests. */
  readonly concurrency: number
  readonly progress?: (done: number) => void
}

export const run = async (
  { baseUrl, key, secret }: { readonly baseUrl: string; readonly key: string; readonly secret: string },
  { concurrency, count, progress, seed }: Options
): Promise<Outcome> => {
  const all = Object.entries(routes)
  // The bills of other months are empty.
  const months = [new Date().toISOString().slice(0, 7)]
  const world: World = { host: new URL(baseUrl).host, key, secret, known: new Map([["month", months]]) }
  const port = Number(new URL(baseUrl).port)
  const counts = new Map(all.map(([name]) => [name, new Map<string, number>()]))
  const failures: Array<Failure> = []
  let next = 0

  const worker = async () => {
    while (next < count && failures.length < 20) {
      const number = next++
      const draw = new Draw(`${seed}/${number}`)
      // Each round has another order of routes, so that different routes run at the same time.
      const [route, make] = all[(number + Math.floor(number / all.length)) % all.length]!
      const sent = toBytes(spoil(make(world, draw), draw), draw)
      const answer = await exchange(port, sent)
      learn(world, answer)
      const ofRoute = counts.get(route)!
      ofRoute.set(String(answer.outcome), (ofRoute.get(String(answer.outcome)) ?? 0) + 1)
      const problem = wrong(sent, answer)
      if (problem !== undefined) failures.push({ number, route, description: problem, sent })
      progress?.(number)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { counts, failures }
}

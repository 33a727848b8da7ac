/** Sends almost valid requests to all routes in turn. The seed decides the requests. */
import * as SeededRandom from "./SeededRandom.ts"
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

const world = (baseUrl: string, key: string, secret: string): World => ({
  host: new URL(baseUrl).host,
  key,
  secret,
  assemblies: [],
  uploads: [],
  templates: [],
  credentials: [],
  assets: [],
  tokens: [],
  authKeys: []
})

export const run = async (
  { baseUrl, key, secret }: { readonly baseUrl: string; readonly key: string; readonly secret: string },
  { concurrency, count, progress, seed }: Options
): Promise<Outcome> => {
  const all = Object.entries(routes)
  const known = world(baseUrl, key, secret)
  const port = Number(new URL(baseUrl).port)
  const counts = new Map(all.map(([name]) => [name, new Map<string, number>()]))
  const failures: Array<Failure> = []
  let next = 0

  const worker = async () => {
    while (next < count && failures.length < 20) {
      const number = next++
      const chance = SeededRandom.make(`${seed}/${number}`)
      // Each round has another order of routes, so that different routes run at the same time.
      const [route, make] = all[(number + Math.floor(number / all.length)) % all.length]!
      const sent = toBytes(spoil(make(known, chance), chance), chance)
      const answer = await exchange(port, sent)
      learn(known, answer)
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

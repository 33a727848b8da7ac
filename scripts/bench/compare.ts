/**
 * Compares this version with a commit. Both versions run alternately, row by row. A figure counts as different only if
 * the difference is larger than chance explains (see `spread.ts`).
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { attempt, BenchError, folder as temporary, median } from "./harness.ts"
import * as Report from "./report.ts"
import * as Spread from "./spread.ts"

const here = fileURLToPath(new URL("../..", import.meta.url))

/** The part of a row in benchmarks.json that is compared. */
type Saved = Readonly<
  Record<
    string,
    { readonly figures: ReadonlyArray<{ readonly peer: string; readonly target: string; readonly value: number }> }
  >
>

/** The values of one figure in each round, for both versions. */
export interface Compared {
  readonly id: string
  readonly peer: string
  readonly target: string
  readonly old: ReadonlyArray<number>
  readonly new: ReadonlyArray<number>
}

/** Runs a program until it ends, and returns its output. An interruption kills the program. */
const run = (file: string, args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<string, BenchError>((resume) => {
    const child = execFile(
      file,
      args,
      { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resume(
          error === null
            ? Effect.succeed(stdout)
            : Effect.fail(new BenchError(`${[file, ...args].join(" ")} failed in ${cwd}:\n${stdout}${stderr}`))
        )
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** A working tree of a commit with its dependencies, which is removed with the scope. */
const treeOf = (commit: string, folder: string) =>
  Effect.gen(function* () {
    const tree = join(folder, "tree")
    yield* Effect.acquireRelease(run("git", ["worktree", "add", "--detach", tree, commit], here), () =>
      Effect.ignore(run("git", ["worktree", "remove", "--force", tree], here))
    )
    yield* Console.error(`installing ${commit} …`)
    yield* run("npx", ["-y", "pnpm@12", "install", "--frozen-lockfile", "--prefer-offline"], tree)
    return tree
  })

/** Runs one row in a working tree, and returns its figures. */
const measure = (tree: string, id: string, folder: string) =>
  Effect.gen(function* () {
    const output = join(folder, "figures.json")
    yield* attempt(() => rm(output, { force: true }))
    // The comparison repeats whole rows, so each version measures one round at a time.
    yield* run(process.execPath, ["scripts/bench/main.ts", id], tree, { BENCH_ROUNDS: "1", BENCH_OUTPUT: output })
    const saved = yield* attempt(async () => JSON.parse(await readFile(output, "utf8")) as Saved)
    return saved[id]?.figures ?? []
  })

/** The rounds of every figure that both versions have. */
const pair = (
  id: string,
  rounds: ReadonlyArray<Readonly<Record<"old" | "new", Saved[string]["figures"]>>>
): ReadonlyArray<Compared> =>
  (rounds[0]?.new ?? []).flatMap(({ peer, target }) => {
    const of = (version: "old" | "new") =>
      rounds.flatMap((round) => round[version].filter((figure) => figure.peer === peer).map(({ value }) => value))
    const compared = { id, peer, target, old: of("old"), new: of("new") }
    return compared.old.length === rounds.length && compared.new.length === rounds.length ? [compared] : []
  })

const isPositive = (value: number): boolean => value > 0 && Number.isFinite(value)

/** Whether a figure can be compared. A figure that is zero, such as the number of open sockets, has no ratio. */
const isComparable = (figure: Compared): boolean => [...figure.old, ...figure.new].every(isPositive)

/** Describes a verdict on a figure with this target. */
const meaning = (verdict: Spread.Verdict["_tag"], target: string): string => {
  switch (verdict) {
    case "Undecided":
      return "too few rounds"
    case "Same":
      return "no difference"
    case "Higher":
      return target.startsWith("≥") ? "better" : target.startsWith("≤") ? "WORSE" : "higher"
    case "Lower":
      return target.startsWith("≥") ? "WORSE" : target.startsWith("≤") ? "better" : "lower"
  }
}

/** One line for each figure: the medians of both versions, their ratio, its interval, and the verdict. */
export const lines = (all: ReadonlyArray<Compared>): ReadonlyArray<ReadonlyArray<string>> => {
  const figures = all.filter(isComparable).length
  return all.map((figure) => {
    const medians = [figure.id, figure.peer, Report.number(median(figure.old)), Report.number(median(figure.new))]
    if (!isComparable(figure)) return [...medians, "", "", "not comparable"]
    const verdict = Spread.compare(
      figure.old.map((old, round) => ({ old, new: figure.new[round] ?? old })),
      figures
    )
    const interval = verdict._tag === "Undecided" ? "" : `${Report.number(verdict.low)}–${Report.number(verdict.high)}`
    return [...medians, Report.number(verdict.ratio), interval, meaning(verdict._tag, figure.target)]
  })
}

/** Compares rows of this working tree with a commit. Fails if a figure is worse. */
export const compare = (commit: string, ids: ReadonlyArray<string>, wanted: number | undefined) =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const tree = yield* treeOf(commit, folder)
    const rounds = new Map(ids.map((id) => [id, [] as Array<Record<"old" | "new", Saved[string]["figures"]>>]))
    const collected = () => [...rounds].flatMap(([id, all]) => pair(id, all))
    let count = wanted ?? 1
    for (let round = 0; round < count; round++) {
      for (const [id, all] of rounds) {
        yield* Console.error(`round ${round + 1}${round === 0 && wanted === undefined ? "" : ` of ${count}`}: ${id}`)
        // The order changes, because the first of two runs may be the slower one.
        const [first, second] = round % 2 === 0 ? ([tree, here] as const) : ([here, tree] as const)
        const one = yield* measure(first, id, folder)
        const two = yield* measure(second, id, folder)
        all.push(round % 2 === 0 ? { old: one, new: two } : { old: two, new: one })
      }
      // The number of figures is known only after the first round.
      if (round === 0 && wanted === undefined) count = Spread.roundsFor(collected().filter(isComparable).length)
    }
    const table = lines(collected())
    yield* Console.log(Report.format([["#", "beside", commit, "this version", "ratio", "interval", ""], ...table]))
    const worse = table.filter((line) => line.includes("WORSE")).length
    if (worse > 0) return yield* Effect.fail(new BenchError(`${worse} of ${table.length} figures are worse`))
  })

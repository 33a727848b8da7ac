/** What the programs of one side share. */
import Process from "node:process"

/** Measures once whenever the parent process asks, and reports the result. */
export const answer = (measure: () => Promise<unknown>): void => {
  Process.on("message", () => void measure().then((value) => Process.send?.(value)))
  Process.send?.("ready")
}

/** Calls a function `count` times, with `concurrency` calls at once. */
export const calls = (count: number, concurrency: number, call: () => Promise<unknown>) => async () => {
  let left = count
  const worker = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

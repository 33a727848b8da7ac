#!/usr/bin/env node
import { launch } from "./internal/launch.ts"

// The program is loaded on demand: a user of an old Node gets an error message instead of a syntax error, and
// `--version` does not load Effect.
await launch(async () => {
  const { main } = await import("./internal/main.ts")
  return main
})

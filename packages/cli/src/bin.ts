#!/usr/bin/env node
import { launch } from "./internal/launch.ts"

// Loaded on demand, so that an old Node can say that it is too old, and `--version` needs nothing of Effect.
await launch(async () => {
  const { main } = await import("./internal/main.ts")
  return main
})

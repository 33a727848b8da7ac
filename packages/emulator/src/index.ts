export * as Emulator from "./Emulator.ts"
export * as Faults from "./Faults.ts"

export * as Emulator from "./Emulator.ts"
export * as EmulatorError from "./EmulatorError.ts"
export * as Faults from "./Faults.ts"
export * as Template from "./Template.ts"

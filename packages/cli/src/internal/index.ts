/** What the commands have in common. The program loads all of this for each command. */
export * as Address from "./address.ts"
export * as Cli from "./cli.ts"
export * as Failure from "./failure.ts"
export * as Help from "./help.ts"
export * as Output from "./output.ts"
export * as Settings from "./settings.ts"
export * as Table from "./table.ts"
export * as Text from "./text.ts"

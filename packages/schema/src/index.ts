// This index does not export `AuthKey`, `Bill`, `Notification`, `Queue`, `Template`, `TemplateCredential` or `testing`,
// because these modules load code that most programs do not need. Import each of these modules from its own path, such
// as "@assembly-effect/schema/Template".
export * as Assembly from "./Assembly.ts"
export * as AssemblyList from "./AssemblyList.ts"
export * as AssemblyReplay from "./AssemblyReplay.ts"
export * as AssemblyStatistics from "./AssemblyStatistics.ts"
export * as DamAsset from "./DamAsset.ts"
export * as DamEntries from "./DamEntries.ts"
export * as Identifier from "./Identifier.ts"
export * as Instructions from "./Instructions.ts"
export * as InvalidRequest from "./InvalidRequest.ts"

export * as IndexedDbJournal from "./IndexedDbJournal.ts"

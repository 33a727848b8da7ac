/** The limits of the emulator in the context. */
import * as Context from "effect/Context"
import { defaults, type Settings } from "../Limits.ts"

export type Values = typeof Settings.Type

export const Limits = Context.Reference<Values>("@assembly-effect/emulator/Limits", { defaultValue: () => defaults })

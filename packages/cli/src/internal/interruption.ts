/**
 * What the program prints if Ctrl-C arrives before a command has begun. This module imports only Node, because it is
 * used before Effect is loaded.
 */
import { isAbsolute } from "node:path"

const line =
  "interrupted before anything was sent; what an earlier command uploaded is kept. Run the same command again"
const lineOfNothing = "interrupted before a file was sent; run the same command again"

/** Whether an earlier command can have kept an upload. Without a folder, no command keeps an upload. */
const hasFolder = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): boolean =>
  args.some((arg) => /^--journal(?:=|$)/.test(arg)) ||
  [env.XDG_STATE_HOME, env.HOME, env.LOCALAPPDATA].some((path) => path !== undefined && isAbsolute(path))

/**
 * The text for an `assembly upload` that has sent nothing, and has not yet found out whether an earlier command has
 * sent anything. The text is empty for every other command. On a terminal, the text begins with a line break, because
 * the terminal has written `^C`.
 */
export const textAtStart = (
  args: ReadonlyArray<string>,
  { isTTY }: { readonly isTTY?: boolean | undefined },
  env: NodeJS.ProcessEnv
): string => {
  if (args[0] !== "upload") return ""
  const text = `assembly: ${hasFolder(args, env) ? line : lineOfNothing}`
  return `${isTTY === true ? "\n" : ""}${text}\n`
}

/**
 * One upload as the page shows it: its progress, what it is doing, and its buttons.
 */
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"

const element = <A extends Element>(parent: ParentNode, selector: string, type: new () => A): A => {
  const found = parent.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`the page has no ${selector}`)
  return found
}

export const find = <A extends Element>(selector: string, type: new () => A): A => element(document, selector, type)

const units = ["bytes", "KB", "MB", "GB", "TB"]

const formatSize = (bytes: number): string => {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${value.toLocaleString(undefined, { maximumFractionDigits: power === 0 ? 0 : 1 })} ${units[power]}`
}

/**
 * - `uploading`: bytes are sent. `paused`: the user stopped it. `unfinished`: an earlier visit left it, and the page
 *   needs its file again. `stored` and `failed`: it has ended.
 */
export type State = "uploading" | "paused" | "unfinished" | "stored" | "failed"

export interface Actions {
  readonly pause: () => void
  readonly resume: () => void
  readonly cancel: () => void
}

/** Adds a row to the list. The label of each button names the file, for users of a screen reader. */
export const make = (name: string, size: number, actions: Actions) => {
  const list = find("#uploads", HTMLUListElement)
  const row = document.importNode(find("#upload", HTMLTemplateElement).content, true)
  const item = element(row, ".upload", HTMLLIElement)
  const progress = element(item, "progress", HTMLProgressElement)
  const status = element(item, ".status", HTMLSpanElement)
  const buttons = {
    pause: element(item, ".pause", HTMLButtonElement),
    resume: element(item, ".resume", HTMLButtonElement),
    cancel: element(item, ".cancel", HTMLButtonElement)
  }

  element(item, ".name", HTMLSpanElement).textContent = name
  element(item, ".name", HTMLSpanElement).title = name
  element(item, ".size", HTMLSpanElement).textContent = formatSize(size)
  progress.setAttribute("aria-label", `Progress of ${name}`)
  for (const [action, button] of Object.entries(buttons)) {
    button.setAttribute("aria-label", `${button.textContent} ${name}`)
    button.addEventListener("click", () => actions[action as keyof Actions]())
  }
  list.append(row)

  const news = find("#news", HTMLParagraphElement)

  const show = (state: State, text: string) => {
    item.dataset["state"] = state
    status.textContent = text
    const focused = document.activeElement
    buttons.pause.hidden = state !== "uploading"
    buttons.resume.hidden = state === "uploading" || state === "stored"
    buttons.resume.textContent =
      state === "unfinished" ? "Choose the file" : state === "failed" ? "Try again" : "Resume"
    buttons.resume.setAttribute("aria-label", `${buttons.resume.textContent} ${name}`)
    buttons.cancel.textContent = state === "stored" ? "Remove" : "Cancel"
    buttons.cancel.setAttribute("aria-label", `${buttons.cancel.textContent} ${name}`)
    // The button that has the focus may be hidden now.
    if (focused instanceof HTMLElement && item.contains(focused) && focused.hidden) {
      Object.values(buttons)
        .find((button) => !button.hidden)
        ?.focus()
    }
  }

  let shown: State | undefined
  /** A screen reader announces each change of the state, but not every percent. */
  const change = (state: State, text: string) => {
    show(state, text)
    if (state !== shown) news.textContent = `${name}: ${text}`
    shown = state
  }

  const moveTo = (bytes: bigint) => {
    progress.value = size === 0 ? 1 : Number(bytes) / size
  }

  const percent = () => `${Math.floor(progress.value * 100)}%`

  return {
    change,
    remove: () => item.remove(),
    /** Shows an event to the user. */
    tell: UploadEvent.$match({
      Created: () => change("uploading", "Uploading"),
      Resumed: ({ offset }) => {
        moveTo(offset)
        change("uploading", `Continuing at ${percent()}`)
      },
      Progress: ({ sent }) => {
        moveTo(sent)
        change("uploading", `${formatSize(Number(sent))}, ${percent()}`)
      },
      Retrying: () => change("uploading", `The connection was lost at ${percent()}. Trying again`),
      Waiting: () => change("uploading", "Another tab uploads this file"),
      Restarted: () => change("uploading", "Beginning again"),
      PartCompleted: () => undefined,
      Finishing: () => change("uploading", "Almost done"),
      Completed: () => {
        progress.value = 1
        change("stored", "Stored")
      }
    })
  }
}

export type Row = ReturnType<typeof make>

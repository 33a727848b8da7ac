/**
 * Controls a browser with requests over a WebSocket. Each response has the id of its request.
 */

/** Sends a command and returns its result. */
export type Send = (method: string, params: object, session?: string) => Promise<Record<string, unknown>>

interface Answer {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: unknown
}

const connect = async (url: string): Promise<{ readonly send: Send; readonly close: () => void }> => {
  const socket = new WebSocket(url)
  const waiting = new Map<
    number,
    { resolve: (value: Record<string, unknown>) => void; reject: (error: Error) => void }
  >()
  let last = 0
  socket.addEventListener("message", ({ data }) => {
    const { error, id, result }: Answer = JSON.parse(String(data))
    const one = id === undefined ? undefined : waiting.get(id)
    if (id === undefined || one === undefined) return
    waiting.delete(id)
    if (error === undefined) one.resolve(result ?? {})
    else one.reject(new Error(JSON.stringify(error)))
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", () => reject(new Error("no remote control")))
  })
  return {
    send: (method, params, sessionId) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, { resolve, reject })
        socket.send(JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
      }),
    close: () => socket.close()
  }
}

/**
 * Opens a page in Chromium with the Chrome DevTools Protocol, and returns a function that sends commands to the page.
 */
export const openInChromium = async (endpoint: string, url: string): Promise<Send> => {
  const { send } = await connect(endpoint)
  const { targetId } = await send("Target.createTarget", { url })
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true })
  return (method, params) => send(method, params, String(sessionId))
}

/** Opens a page in Firefox with WebDriver BiDi. */
export const openInFirefox = async (endpoint: string, url: string): Promise<void> => {
  const { send } = await connect(`${endpoint}/session`)
  await send("session.new", { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  const { context } = await send("browsingContext.create", { type: "tab" })
  await send("browsingContext.navigate", { context, url, wait: "none" })
}

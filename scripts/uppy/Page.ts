/** The page of the application: Uppy as in its documentation, and one line of text for each event. */
import Uppy from "@uppy/core"
import Transloadit from "@uppy/transloadit"

const say = (text: string) => {
  const line = document.createElement("li")
  line.textContent = text
  document.querySelector("#lines")?.append(line)
}

const service = document.body.dataset["service"] ?? ""
const album = new URLSearchParams(location.search).get("album") ?? "holidays"

const uppy = new Uppy({ autoProceed: true }).use(Transloadit, {
  service,
  errorReporting: false,
  waitForEncoding: true,
  assemblyOptions: async () => {
    const response = await fetch("/sign", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ album })
    })
    if (!response.ok) throw new Error((await response.json()).problem)
    say("The application signed the params.")
    return response.json()
  }
})

uppy.on("transloadit:assembly-created", () => say("The Assembly was created."))
uppy.on("progress", (percent) => {
  const bar = document.querySelector("progress")
  if (bar !== null) bar.value = percent
})
uppy.on("upload-success", (file) => say(`${file?.name} was uploaded: ${file?.size} bytes.`))
uppy.on("transloadit:complete", (assembly) => say(`The Assembly ended: ${assembly.ok}.`))
uppy.on("error", (error) => say(`Failed: ${error.message}`))
uppy.on("complete", ({ failed, successful }) => say(`Done: ${successful?.length} uploaded, ${failed?.length} failed.`))

document.querySelector("input")?.addEventListener("change", ({ currentTarget }) => {
  const { files } = currentTarget as HTMLInputElement
  for (const file of files ?? []) uppy.addFile({ name: file.name, type: file.type, data: file })
})

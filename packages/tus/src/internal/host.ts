import * as Redaction from "@assembly-effect/auth/Redaction"

/** The maximum length of a host name. */
const maxHost = 253

/** The reason why the origin of a URL is refused. The text contains the host, which helps to find the problem. */
export const foreign = (url: string): string =>
  URL.canParse(url)
    ? `the host ${Redaction.text(new URL(url).host, { max: maxHost })} does not belong to the service; if it does, add its origin to the option origins`
    : "not an absolute URL"

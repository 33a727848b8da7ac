/** Whether a host name, as in `URL.hostname`, is `localhost`, `[::1]` or an IPv4 address of `127.0.0.0/8`. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)

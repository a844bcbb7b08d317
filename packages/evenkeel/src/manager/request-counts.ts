/**
 * What is asked of the server, counted under the name that client-go gave it, because dashboards have it.
 *
 * Every attempt counts, also one that got no answer (`<error>`). What the thread that renews the lease asks is not seen
 * from here.
 */
import type { Counter, Metrics } from '#base'
import type { ClientOptions } from '#client'

type CountedTransport = ClientOptions['transport']

/** The same transport. `host` is whom it leads to. */
export function countRequests(
  transport: CountedTransport,
  metrics: Metrics,
  { host }: { readonly host: string },
): CountedTransport {
  const family = metrics.counter('rest_client_requests_total', {
    help: 'Requests by HTTP code, method and host.',
    labels: ['code', 'host', 'method'],
  })
  const known = new Map<string, Counter>()
  const count = (code: string, method: string): void => {
    const key = `${code} ${method}`
    const counter = known.get(key) ?? family.with({ code, host, method })
    known.set(key, counter)
    counter.add()
  }
  const counting: CountedTransport = async (request) => {
    let code = '<error>'
    try {
      const response = await transport(request)
      code = String(response.status)
      return response
    } finally {
      count(code, request.method)
    }
  }
  return Object.assign(counting, transport.acceptsLightSignals && { acceptsLightSignals: true as const })
}

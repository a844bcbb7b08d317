/**
 * The origin guard: refuses requests that a web page in a browser sends to this server.
 *
 * A page can make the browser of a developer send requests to `127.0.0.1`, and with DNS rebinding even read the
 * response. Such a request carries the page's host name in `Host` or `Origin`. No response ever has a CORS header.
 */
import type { Transport, WireHeaders, WireRequest } from '#wire'
import { textResponse } from './http-message.ts'

interface OriginGuardOptions {
  /** Names and addresses of the server, beside loopback; IPv6 addresses without brackets. */
  hosts?: readonly string[]
}

const defaultHosts = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]
/** A name or an IPv4 address, or an IPv6 address in brackets; an optional port. */
const hostText = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@?#\s]+))(?::\d{1,5})?$/i

/** The same transport, for requests with a known host and without a foreign origin. */
export function guardOrigin(transport: Transport, { hosts = [] }: OriginGuardOptions = {}): Transport {
  const known = new Set([...defaultHosts, ...hosts].map((host) => host.toLowerCase()))
  let passed = ''
  return (request) => {
    const { host, origin, 'sec-fetch-site': site } = request.headers
    // Nearly every request has the same host as the previous one, and no origin.
    if (host !== undefined && host === passed && origin === undefined && site === undefined) return transport(request)
    const problem = originProblem(request, known)
    if (!problem) passed = host ?? ''
    return problem ? Promise.resolve(textResponse(problem.status, problem.text)) : transport(request)
  }
}

function originProblem(
  { headers }: WireRequest,
  known: ReadonlySet<string>,
): { status: number; text: string } | undefined {
  const host = hostOf(headers['host'] ?? '')
  if (host === undefined || !known.has(host))
    return {
      status: 421,
      text: `this server is not called ${JSON.stringify(headers['host'] ?? '')}: use localhost, or start it with that name`,
    }
  if (isCrossSite(headers, known)) return { status: 403, text: 'calls from web pages of other sites are refused' }
  return undefined
}

function isCrossSite(headers: WireHeaders, known: ReadonlySet<string>): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  const [, rest] = /^https?:\/\/(.+)$/i.exec(origin) ?? []
  const host = rest === undefined ? undefined : hostOf(rest)
  // Another port of this machine is another origin: only the exact host and port may match.
  return host === undefined || !known.has(host) || rest?.toLowerCase() !== headers['host']?.toLowerCase()
}

function hostOf(text: string): string | undefined {
  const [, address, name] = hostText.exec(text) ?? []
  return (address ?? name?.replace(/\.$/, ''))?.toLowerCase()
}

/**
 * Which proxy the environment asks for: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in capitals or not.
 *
 * The rules are those of Go, which every other client of the cluster follows: a name in `NO_PROXY` stands for itself
 * and all below it, with a dot in front only for those below; addresses may be ranges; loopback is never proxied.
 */
import { BlockList, isIP } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy for a server; undefined when it is called directly. */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const isDirect =
    isLoopback(host) ||
    isExcluded(host, port || (protocol === 'https:' ? '443' : '80'), env['NO_PROXY'] || env['no_proxy'] || '')
  if (isDirect) return undefined
  return /^[a-z0-9+.-]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inRange(entry, host)
  const [, name = entry, wanted] = /^(.+?|\[.+\]):(\d+)$/.exec(isIP(entry) === 6 ? '' : entry) ?? []
  if (wanted !== undefined && wanted !== port) return false
  const bare = name.replace(/^\[(.*)\]$/, '$1').replace(/^\*\./, '.')
  if (isIP(bare) > 0) return bare === host
  return bare.startsWith('.') ? host.endsWith(bare) : host === bare || host.endsWith(`.${bare}`)
}

function inRange(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const range = new BlockList()
  range.addSubnet(network, Number(bits), type)
  return range.check(host, type)
}

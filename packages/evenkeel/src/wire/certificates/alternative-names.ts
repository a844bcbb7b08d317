/**
 * The names a server certificate is good for: DNS names and addresses, as X.509 spells them.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { implicit, sequence } from './der.ts'

const dnsNameTag = 2
const addressTag = 7
const dnsName = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

/** The value of a subjectAltName extension, in the given order. */
export function alternativeNames(names: readonly string[]): Uint8Array {
  return sequence(...names.map(alternativeName))
}

function alternativeName(name: string): Uint8Array {
  if (isIPv4(name)) return implicit(addressTag, Uint8Array.from(name.split('.').map(Number)))
  if (isIPv6(name) && !name.includes('%')) return implicit(addressTag, ipv6Bytes(name))
  if (name.length <= 253 && dnsName.test(name)) return implicit(dnsNameTag, Buffer.from(name))
  throw new RangeError(`a certificate needs DNS names or addresses, got ${JSON.stringify(name)}`)
}

/** The 16 bytes of an address that was found valid: `::` stands for as many zeros as are missing. */
function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = withoutDots(address).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]))
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** `::ffff:1.2.3.4` with its last four bytes as two groups. */
function withoutDots(address: string): string {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  if (!dotted) return address
  const [a = 0, b = 0, c = 0, d = 0] = dotted.slice(1).map(Number)
  return `${address.slice(0, dotted.index)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

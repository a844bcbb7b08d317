/**
 * Addresses that are never called out to: link-local ones, among them the metadata services of clouds, which hand out
 * credentials to whoever reaches them from inside; and those that name nobody or everybody.
 *
 * A name is looked up once, what it stands for is judged, and that very address is connected to: a name that stands for
 * something else a moment later gains nothing.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { LookupFunction } from 'node:net'

/** Finds the address of a name. */
export type ResolveName = (name: string) => Promise<string>

const blockedAddresses = new BlockList()
blockedAddresses.addSubnet('169.254.0.0', 16, 'ipv4')
blockedAddresses.addSubnet('0.0.0.0', 8, 'ipv4')
blockedAddresses.addSubnet('224.0.0.0', 4, 'ipv4')
blockedAddresses.addSubnet('240.0.0.0', 4, 'ipv4')
// Clouds that have their metadata elsewhere.
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) blockedAddresses.addAddress(address, 'ipv4')
blockedAddresses.addSubnet('fe80::', 10, 'ipv6')
blockedAddresses.addSubnet('ff00::', 8, 'ipv6')
for (const address of ['::', 'fd00:ec2::254', 'fd20:ce::254']) blockedAddresses.addAddress(address, 'ipv6')

/**
 * Lets an address be called.
 *
 * @throws {Error} when it may not be.
 */
export function checkAddress(address: string): void {
  if (isBlocked(address)) throw new Error(`dial tcp ${address}: link-local and metadata addresses are not called`)
}

function isBlocked(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  return blockedAddresses.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

/** A look-up for sockets that gives one address which may be called. */
export function guardedLookup(resolveName: ResolveName = firstAddress): LookupFunction {
  return (name, { all = false }, done) => {
    resolveName(name)
      .then((address) => {
        checkAddress(address)
        const family = isIPv6(address) ? 6 : 4
        if (all) done(null, [{ address, family }])
        else done(null, address, family)
      })
      .catch((error: unknown) => {
        done(error as NodeJS.ErrnoException, '', 4)
      })
  }
}

/** Names of this machine have two addresses, and servers mostly listen on the old one: it comes first. */
function firstAddress(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    systemLookup(name, { all: false, order: 'ipv4first' }, (error, address) => {
      if (error) reject(error)
      else resolve(address)
    })
  })
}

/**
 * Where a Service listens, and the address that its clients get.
 *
 *   spec                                listens on                 clients get
 *   (nothing), Localhost                127.0.0.1 and ::1          localhost
 *   IPv4ZeroOne, IPv4Loopback           127.0.0.1                  127.0.0.1
 *   IPv6ZeroOne                         ::1                        [::1]
 *   AllInterfaces                       0.0.0.0 and ::             localhost
 *   IPv4AllInterfaces                   0.0.0.0                    0.0.0.0
 *   IPv6AllInterfaces                   ::                         [::]
 *   address: 192.0.2.1                  192.0.2.1                  192.0.2.1
 */
interface ServiceAddresses {
  /** The first one has to be there; the machine may not have the second one. */
  readonly listen: readonly [first: string, second?: string]
  readonly effective: string
}

const byMode: Readonly<Record<string, ServiceAddresses>> = {
  Localhost: { listen: ['127.0.0.1', '::1'], effective: 'localhost' },
  IPv4ZeroOne: { listen: ['127.0.0.1'], effective: '127.0.0.1' },
  IPv4Loopback: { listen: ['127.0.0.1'], effective: '127.0.0.1' },
  IPv6ZeroOne: { listen: ['::1'], effective: '[::1]' },
  AllInterfaces: { listen: ['0.0.0.0', '::'], effective: 'localhost' },
  IPv4AllInterfaces: { listen: ['0.0.0.0'], effective: '0.0.0.0' },
  IPv6AllInterfaces: { listen: ['::'], effective: '[::]' },
}
const localhost: ServiceAddresses = { listen: ['127.0.0.1', '::1'], effective: 'localhost' }

/** An address in the spec decides, whatever the mode is. */
export function addressesOf(address: string, mode: string): ServiceAddresses {
  const bare = address.replace(/^\[(.*)\]$/, '$1')
  if (bare === '' || bare === 'localhost') return bare === '' ? (byMode[mode] ?? localhost) : localhost
  return { listen: [bare], effective: bare.includes(':') ? `[${bare}]` : bare }
}

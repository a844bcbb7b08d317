/**
 * Listening on a port, and checking the identity of a TLS server.
 *
 * Node 22.23 treats an IPv6 address as a host name and refuses every certificate for it. The check here replaces that of
 * Node for such addresses, on such versions only, because on some versions connections with a custom check are not reused.
 */
import { X509Certificate } from 'node:crypto'
import { isIP, type AddressInfo, type Server } from 'node:net'
import { checkServerIdentity as checkByNode, type PeerCertificate } from 'node:tls'

interface ListenAddress {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly protocol: 'http' | 'https'
}

/** Listens, and returns the base URL. @throws when the port is not available. */
export async function listenAt(server: Server, { host, port, protocol }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port: taken } = server.address() as AddressInfo
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${taken}`
}

/** Listens on the given port, or on a free one when that is taken, so that an address stays the same if it can. */
export async function listenNear(
  server: Server,
  address: ListenAddress,
): Promise<{ readonly url: string; readonly isTaken: boolean }> {
  try {
    return { url: await listenAt(server, address), isTaken: false }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return { url: await listenAt(server, { ...address, port: 0 }), isTaken: true }
  }
}

interface IdentityCheck {
  readonly checkServerIdentity?: typeof checkAddressIdentity
}

const rejectsIpv6 =
  checkByNode('::1', { subject: {}, subjectaltname: 'IP Address:0:0:0:0:0:0:0:1' } as unknown as PeerCertificate) !==
  undefined

/** The options to add to a TLS connection to a host. */
export function identityCheck(host: string): IdentityCheck {
  return rejectsIpv6 && isIP(host) === 6 ? { checkServerIdentity: checkAddressIdentity } : {}
}

/** The error of Node when the certificate is not valid for the address; undefined when it is. */
export function checkAddressIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (new X509Certificate(certificate.raw).checkIP(host) !== undefined) return undefined
  const reason = `IP: ${host} is not in the cert's list: ${certificate.subjectaltname ?? ''}`
  return Object.assign(new Error(`Hostname/IP does not match certificate's altnames: ${reason}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    reason,
    host,
    cert: certificate,
  })
}
